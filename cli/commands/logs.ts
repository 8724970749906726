// `holdfast logs`: what the data folder's processes have logged, of one agent or of all.
import { setTimeout as delay } from 'node:timers/promises';
import { inertLine } from '../../contracts/text/inert';
import { LOG_LEVELS, type LogLevel } from '../../contracts/text/log-levels';
import { gatewayPaths } from '../../gateway/gateway-record';
import { LogReader, type LoggedLine } from '../../system/log/logged-lines';
import { workerPaths } from '../../workers/process/worker-record';
import { dataDirOf, type GlobalOptions } from '../global-options';
import { visibleJson } from '../print/print-json';
import { note, styled } from '../terminal/terminal-style';
import { InvalidArgumentError, type Command } from 'commander';
import { agentId, duration, wholeNumber } from '../arguments';
import { action, examples, type Define } from '../define-command';
import { oneOf } from '../one-of';

interface LogsOptions extends GlobalOptions {
  follow?: boolean;
  /** The least important lines that are shown. */
  level: LogLevel;
  /** In milliseconds before now. */
  since?: number;
  /** How many lines at most, the last ones; null for all. */
  tail: number | null;
}

function lineCount(text: string): number | null {
  if (text === 'all') return null;
  const count = wholeNumber(text);
  if (count > 0) return count;
  throw new InvalidArgumentError(`got ${text}, allowed a whole number of at least 1, or all.`);
}

export const define: Define = (command) =>
  command
    .option('--follow', 'wait for more')
    .option('--level <level>', `at least: ${LOG_LEVELS.join(', ')}`, oneOf('--level', LOG_LEVELS), 'info')
    .option('--since <time>', 'only of the last 10m, 12h, 7d', duration)
    .option('--tail <n>', 'only the last so many lines, or all', lineCount, 200)
    .addHelpText(
      'after',
      examples(
        'holdfast logs review                    what happened to one agent',
        'holdfast logs --level warn --since 1h   what went wrong lately',
        'holdfast logs --follow --json | jq .    as it was written',
      ),
    )
    .action(
      action((agent: string | undefined, _own: object, self: Command) =>
        logs(agent === undefined ? agent : agentId(agent), self.optsWithGlobals()),
      ),
    );

const LOOK_EVERY_MS = 200;

/** Prints lines for people, or with `--json` as JSON: also those that are none in the file. Needs neither the server nor a worker. */
async function logs(agent: string | undefined, options: LogsOptions): Promise<number> {
  const dataDir = dataDirOf(options);
  const readers = [workerPaths(dataDir).log, gatewayPaths(dataDir).log].map((path) => new LogReader(path));
  const from = options.since === undefined ? 0 : Date.now() - options.since;
  const isWanted = ({ facts, at, level }: LoggedLine): boolean =>
    at >= from &&
    LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(options.level) &&
    (agent === undefined || facts?.agent === agent);
  const next = (): LoggedLine[] =>
    readers
      .flatMap((reader) => reader.read())
      .filter(isWanted)
      .sort((a, b) => a.at - b.at);
  const print = (lines: LoggedLine[]): void => {
    for (const line of lines)
      process.stdout.write(
        `${options.json ? visibleJson(line.facts ?? { message: line.text }) : shown(line)}\n`,
      );
  };
  const before = next();
  print(options.tail === null ? before : before.slice(-options.tail || before.length));
  if (before.length === 0 && !options.json)
    note(
      agent === undefined
        ? `Nothing is logged in ${dataDir} yet.`
        : `Nothing about agent ${agent} is logged in ${dataDir}: workers on other machines keep logs of their own.`,
    );
  while (options.follow) {
    await delay(LOOK_EVERY_MS);
    print(next());
  }
  return 0;
}

const COLOURS = { trace: 'dim', debug: 'dim', info: null, warn: 'yellow', error: 'red' } as const;
/** Shown before the message, or of no interest to people. */
const APART = new Set(['time', 'level', 'process', 'pid', 'message', 'agent', 'turn', 'host', 'session']);
const OF_THE_ENGINE = new Set(['workflowId', 'runId', 'activityId', 'isLocal', 'updateId', 'updateName']);

/** `2026-11-22 10:00:00.000 warn  worker agent a turn 2: turn ended reason=model_error steps=1` */
function shown({ facts, text }: LoggedLine): string {
  if (!facts) return inertLine(text);
  const { time, level, process: from, message, agent, turn, host, session } = facts;
  const known = LOG_LEVELS.find((one) => one === level) ?? 'info';
  const about = Object.entries({ agent, turn, host, session })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(' ');
  const rest = Object.entries(facts)
    .filter(([name]) => !APART.has(name) && !OF_THE_ENGINE.has(name))
    .map(([name, value]) => `${name}=${valueOf(value)}`);
  const head = `${String(time).replace('T', ' ').replace('Z', '')} ${known.padEnd(5)} ${String(from)}`;
  const line = inertLine(
    [`${head}${about && ` ${about}`}:`, String(message), ...rest].filter((part) => part !== '').join(' '),
  );
  const colour = COLOURS[known];
  return colour === null ? line : styled(colour, line);
}

function valueOf(value: unknown): string {
  if (typeof value === 'string') return value;
  // An error: its stack is in the file.
  const said = (value as { message?: unknown } | null)?.message;
  return typeof said === 'string' ? said : JSON.stringify(value);
}
