// `holdfast worker`: serves agents in the foreground, for systemd, containers and the like.
import { resolve } from 'node:path';
import { makeFolder } from '../../system/make-folder';
import { recordHost } from '../../workers/configuration/recorded-choice';
import { serverOf } from '../hosts/host-workers';
import { configOf, dataDirOf, type GlobalOptions } from '../global-options';
import { printJson } from '../print/print-json';
import { hostOf } from './up';
import { InvalidArgumentError } from 'commander';
import { checkedQueue } from '../../contracts/ids';
import { MAX_DRAIN_MS } from '../../workers/worker-stop';
import { collect, duration, hostName, listenAddress, named } from '../arguments';
import { action, examples, type Define } from '../define-command';

interface WorkerOptions extends GlobalOptions {
  host?: string;
  agentsOnly?: boolean;
  queue?: string;
  join?: boolean;
  workdir?: string;
  tools?: string[];
  /** `ADDRESS:PORT` of `/healthz` and `/readyz`. */
  probes?: string;
  /** In milliseconds. */
  drain?: number;
}

function drainTime(text: string): number {
  const ms = duration(text);
  if (ms <= MAX_DRAIN_MS) return ms;
  throw new InvalidArgumentError(`got ${text}, allowed up to ${MAX_DRAIN_MS / 86_400_000}d.`);
}

export const define: Define = (command) =>
  command
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
    .addHelpText(
      'after',
      examples(
        'holdfast worker --address temporal.example:7233 --agents-only',
        'holdfast worker --address temporal.example:7233 --probes 127.0.0.1:8081 --drain 60s',
      ),
    )
    .action(action(serveWorker));

/** Serves until SIGTERM or Ctrl-C, then lets its steps end. It logs to stderr, one JSON line for each event. */
async function serveWorker(options: WorkerOptions): Promise<number> {
  const dataDir = dataDirOf(options);
  const { queue, join, probes, drain: drainMs, profile, tools = [] } = options;
  const host = await hostOf(options);
  const { address, namespace } = await serverOf(options);
  makeFolder(dataDir);
  if (options.host !== undefined) recordHost(dataDir, options.host);
  // Only now: it loads Temporal's native code.
  const { runWorker } = await import('../../workers/process/run-worker');
  await runWorker({
    ...{ dataDir, address, namespace, profile, host, queue, join, probes, drainMs },
    workdir: options.workdir === undefined ? undefined : resolve(options.workdir),
    tools: tools.map((file) => resolve(file)),
    config: configOf(options) ?? undefined,
    onReady: ({ identity, queue: served }) => {
      if (options.json) printJson({ address, namespace, host, queue: served, dataDir, pid: identity.pid });
    },
  });
  return 0;
}
