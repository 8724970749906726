// The commands of operators: what runs, and what it has logged.
import { InvalidArgumentError, type Command } from 'commander';
import { checkedId, checkedQueue } from '../../contracts/ids';
import { LOG_LEVELS } from '../../contracts/text/log-levels';
import { MAX_DRAIN_MS } from '../../workers/worker-stop';
import { collect, duration, listenAddress, named, port, wholeNumber } from '../arguments';
import { EXAMPLES } from '../examples';
import { down, gc, logs, serveWorker, up } from '../lazy-commands';
import { oneOf } from '../one-of';

type Action = <A extends unknown[]>(work: (...args: A) => Promise<number>) => (...args: A) => Promise<void>;

const hostName = (id: string): string => checkedId('host', id);

function lineCount(text: string): number | null {
  if (text === 'all') return null;
  const count = wholeNumber(text);
  if (count > 0) return count;
  throw new InvalidArgumentError(`got ${text}, allowed a whole number of at least 1, or all.`);
}

function drainTime(text: string): number {
  const ms = duration(text);
  if (ms <= MAX_DRAIN_MS) return ms;
  throw new InvalidArgumentError(`got ${text}, allowed up to ${MAX_DRAIN_MS / 86_400_000}d.`);
}

/** @param action passes on the exit code */
export function addOperatingCommands(
  command: (name: string, description: string) => Command,
  action: Action,
): void {
  command('up', 'start the Temporal server, the worker and the page; with --address no server')
    .option('--port <n>', 'port of the Temporal server', port)
    .option('--ui-port <n>', 'port of the web UI', port)
    .option('--workdir <dir>', 'where new shells start, kept for later starts', named)
    .option('--no-workdir', 'start shells in the default folder again')
    .option('--tools <file>', 'module with your own tools, kept for later starts; may be repeated', collect)
    .option('--no-tools', 'stop loading your own tools')
    .option(
      '--host <name>',
      'name of this machine on a server that others share (default: its own name)',
      hostName,
    )
    .option('--agents-only', 'serve agents but no shells')
    .option('--queue <name>', 'task queue of the agents, kept for later starts', checkedQueue)
    .option('--no-queue', 'use the default task queue again')
    .option('--join', 'serve agents even if other workers on the queue offer something else')
    .option('--replace', 'end a worker that does not respond, and start another')
    .option('--no-config', 'use the configuration in the data folder again')
    .option(
      '--listen <address:port>',
      'where the API and the page are served (default: 127.0.0.1:7280, or any free port)',
      listenAddress,
    )
    .option('--no-serve', 'start neither the API nor the page')
    .action(action(up));
  command('down', 'stop what `holdfast up` has started')
    .option('--sessions', 'end the shells too')
    .action(action(down));
  command('worker', 'serve agents in the foreground, for systemd and containers; logs to stderr')
    .option('--workdir <dir>', 'where new shells start', named)
    .option('--tools <file>', 'module with your own tools; may be repeated', collect)
    .option(
      '--host <name>',
      'name of this machine on a server that others share (default: its own name)',
      hostName,
    )
    .option('--agents-only', 'serve agents but no shells')
    .option('--queue <name>', 'task queue of the agents', checkedQueue)
    .option('--join', 'serve agents even if other workers on the queue offer something else')
    .option(
      '--probes <address:port>',
      'where /healthz and /readyz are served (default: nowhere)',
      listenAddress,
    )
    .option(
      '--drain <time>',
      'how long running steps may take to end once it is told to stop, such as 30s',
      drainTime,
      2_000,
    )
    .addHelpText('after', EXAMPLES.worker)
    .action(action(serveWorker));
  command('gc', 'remove closed sessions that are kept for long enough; the worker does it, too')
    .option('--dry-run', 'only list them')
    .option('--older-than <time>', 'closed before the last 7d, 12h (default: as configured)', duration)
    .addHelpText('after', EXAMPLES.gc)
    .action(action(gc));
  command('logs [agent]', 'what the worker and the gateway on this machine have logged')
    .option('--follow', 'wait for more')
    .option('--level <level>', `at least: ${LOG_LEVELS.join(', ')}`, oneOf('--level', LOG_LEVELS), 'info')
    .option('--since <time>', 'only of the last 10m, 12h, 7d', duration)
    .option('--tail <n>', 'only the last so many lines, or all', lineCount, 200)
    .addHelpText('after', EXAMPLES.logs)
    .action(
      action((agent: string | undefined, _own: object, self: Command) =>
        logs(agent === undefined ? agent : checkedId('agent', agent), self.optsWithGlobals()),
      ),
    );
}
