// `holdfast attach`: the terminal of a session in your own. On the session's machine it needs no server.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { userInfo } from 'node:os';
import { resolveServer } from '../../client/connect';
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { LOCAL_HOST, parseSessionWorkflowId } from '../../contracts/ids';
import { hasEnded, LONGEST_WAIT_MS, type CommandView } from '../../contracts/sessions/session';
import { Attachment } from '../../exec/attach/attachment';
import { logEnd } from '../../exec/output/log-reader';
import type { Verbs } from '../../exec/protocol';
import type { RemoteTerminal } from '../../exec/attach/remote-terminal';
import { sessionPaths } from '../../exec/session-paths';
import { isOf, lastWorker } from '../../workers/process/worker-record';
import { folderOn } from '../arguments';
import { isLocal, openContext } from '../context';
import { dataDirOf } from '../global-options';
import type { CliContext } from '../open-context';
import { showTerminal, sizeOf, type Left, type Person } from '../terminal/person-at-terminal';
import { showThroughTemporal } from '../terminal/person-through-temporal';
import { sameSession } from '../print/next-step';
import { note } from '../terminal/terminal-style';
import { wayTo, type WayOptions } from '../terminal/host-token';
import { allWork } from '../print/work';
import { exitCodeOf } from './exec';
import { named, TOKEN_FILE } from '../arguments';
import { action, examples, ofSession, type Define } from '../define-command';

interface AttachOptions extends WayOptions {
  run?: string;
  watch?: boolean;
  take?: boolean;
  detachKey: string;
}

export const define: Define = (command) =>
  ofSession(command)
    .option('--run <code>', 'run this code with you at the terminal; its exit code is passed on')
    .option('--watch', 'watch without typing')
    .option('--take', 'take over the keyboard from someone else')
    .option('--detach-key <key>', 'the key that leaves', 'ctrl-]')
    .option('--token-file <file>', TOKEN_FILE, named)
    .addHelpText(
      'after',
      examples(
        'holdfast attach --session 1                      ctrl-] leaves, the session goes on',
        "holdfast attach --run 'ssh-keygen -t ed25519'    a command with you at its terminal",
        'holdfast attach --agent planner --watch',
      ),
    )
    .action(action(attach));

/** Exits with 0, after a signal with 128 and its number; with `--run` with the command's code, unless left. */
export async function attach(options: AttachOptions): Promise<number> {
  if (!process.stdin.isTTY && !options.watch && !options.json) throw needsTerminal();
  const types = !options.watch && !options.json && process.stdin.isTTY && process.stdout.isTTY;
  const detachKey = { byte: detachByte(options.detachKey), name: options.detachKey };
  const person: Person = { types, detachKey, from: null, json: options.json ?? false };
  if (options.run !== undefined) return runAttached(options.run, options, person);
  if (!isHere(dataDirOf(options), options)) return attachElsewhere(options, person);
  const place = await siteHere(dataDirOf(options), options, person)
    .open()
    .catch(async (err: unknown) => {
      throw (await elsewhere(err, options)) ?? err;
    });
  return reportLeft(await showTerminal(place, person), options);
}

function reportLeft(left: Left | null, { json }: AttachOptions): number {
  if (!json) note(left ? 'detached; the session keeps running' : 'the terminal is gone');
  return left?.exitCode ?? 0;
}

async function attachElsewhere(options: AttachOptions, person: Person): Promise<number> {
  await using context = await openContext(options, { start: false, restarts: true, staysOnFullDisk: true });
  const way = await wayTo(context, options);
  const shown = way.terminal
    ? showTerminal(await siteElsewhere(way.terminal, options, person).open(), person)
    : showThroughTemporal(context.client.session(options), person, way.why);
  return reportLeft(await shown, options);
}

/**
 * Runs code in the session with a person at its terminal: they answer it, and see it end. If the session already has a
 * terminal, the keyboard is taken first: a person who is refused (`typist_busy`) has run nothing.
 */
async function runAttached(code: string, options: AttachOptions, person: Person): Promise<number> {
  await using context = await openContext(options, { start: true, staysOnFullDisk: true });
  let place: Attachment | undefined;
  try {
    const { open, logEnd } = await siteOf(context, options, person);
    const cwd = context.uiUrl ? folderOn(options.host, undefined) : undefined;
    const session = context.client.session(options, cwd ? { cwd } : {});
    place = await openIfThere(open);
    const from = await logEnd();
    const running = run(code, session);
    place ??= await openWhenThere(open, settled(running));
    const left = place && (await showTerminal(place, { ...person, from }, atEnd(place, running)));
    if (!left) return exitCodeOf(await running, options);
    if (!options.json) note('detached; the command keeps running');
    return left.exitCode;
  } finally {
    place?.close();
  }
}

async function run(code: string, session: SessionHandle): Promise<CommandView> {
  const atOnce = { firstOutputMs: 0, betweenOutputMs: 0, maxMs: 0 };
  const view = await session.exec({ code, yield: atOnce }, randomUUID()).catch(async (err: unknown) => {
    throw await session.withRecent(err);
  });
  return hasEnded(view) ? view : session.output({ wait: 'exit', waitMs: LONGEST_WAIT_MS });
}

/** Aborts at the command's end, even after a failure, which is reported where the command is awaited. */
function settled(running: Promise<CommandView>): AbortSignal {
  const over = new AbortController();
  const abort = (): void => over.abort();
  running.then(abort, abort);
  return over.signal;
}

/** Aborts when the command is over and its output was shown: the log's end is known by then. */
function atEnd(place: Attachment, running: Promise<CommandView>): AbortSignal {
  const shown = new AbortController();
  const settle = async (): Promise<void> => {
    const view = await running.catch(() => undefined);
    while (view && place.printedTo < view.to) await delay(5);
    shown.abort();
  };
  void settle();
  return shown.signal;
}

/** Where the terminal of a session is, and what to request there. */
interface Site {
  open: () => Promise<Attachment>;
  logEnd: () => Promise<number>;
}

async function siteOf(context: CliContext, options: AttachOptions, person: Person): Promise<Site> {
  if (isLocal(context, options.host)) return siteHere(context.dataDir, options, person);
  const way = await wayTo(context, options);
  if (!way.terminal) throw noWay(options, way.why);
  return siteElsewhere(way.terminal, options, person);
}

function siteHere(dataDir: string, options: AttachOptions, person: Person): Site {
  return {
    open: () => Attachment.open(dataDir, options, requestOf(options, person)),
    logEnd: () => Promise.resolve(logEnd(sessionPaths(dataDir, options).log)),
  };
}

function siteElsewhere(terminal: RemoteTerminal, options: AttachOptions, person: Person): Site {
  return {
    open: () => Attachment.openRemote(terminal, requestOf(options, person)),
    logEnd: () => terminal.end(),
  };
}

const requestOf = ({ take }: AttachOptions, { types }: Person): Verbs['attach']['request'] => ({
  typist: types
    ? { who: `${userInfo().username}, pid ${process.pid}`, take: Boolean(take), answers: true }
    : null,
  size: types ? sizeOf(process.stdout) : null,
});

/**
 * A host served by this machine keeps its sessions in the data folder too. With a named server, `local` is the machine
 * of its agents, which may be another one; and a host of the same name in another namespace is.
 */
function isHere(dataDir: string, options: AttachOptions): boolean {
  const server = resolveServer(options, process.env);
  if (options.host === LOCAL_HOST && !server.isConfigured) return true;
  const last = lastWorker(dataDir);
  const isElsewhere = server.isConfigured && last?.host === options.host && !isOf(last, server);
  return !isElsewhere && existsSync(sessionPaths(dataDir, options).holder);
}

/** For a session that is not here: an error with the hosts on which the agent has one of this number, if any. */
async function elsewhere(err: unknown, options: AttachOptions): Promise<HoldfastError | undefined> {
  if (!(err instanceof HoldfastError) || err.code !== 'not_found') return undefined;
  try {
    await using context = await openContext(options, { start: false });
    const { agent, host, session } = options;
    const open = await allWork(context, { agent });
    const hosts = open
      .map(({ workflowId }) => parseSessionWorkflowId(workflowId))
      .filter((ref) => ref?.agent === agent && ref.session === session && ref.host !== host)
      .map((ref) => ref?.host ?? '');
    const [first] = hosts;
    if (first === undefined) return undefined;
    return new HoldfastError('not_found', {
      what: `Session ${session} of agent ${agent} on host ${host}`,
      got: 'no terminal',
      allowed: `host ${hosts.join(', ')}`,
      next: `Attach there: \`holdfast attach${sameSession({ ...options, host: first })}\`.`,
    });
  } catch {
    // Without a server nothing is known of other machines.
    return undefined;
  }
}

/** Undefined if the session has no terminal. */
async function openIfThere(open: () => Promise<Attachment>): Promise<Attachment | undefined> {
  try {
    return await open();
  } catch (err) {
    if (err instanceof HoldfastError && err.code === 'not_found') return undefined;
    throw err;
  }
}

/** Undefined if the command was over before its terminal could be opened. */
async function openWhenThere(
  open: () => Promise<Attachment>,
  over: AbortSignal,
): Promise<Attachment | undefined> {
  while (!over.aborted) {
    const place = await openIfThere(open);
    if (place) return place;
    await delay(10);
  }
  return undefined;
}

/** The byte of a key such as `ctrl-]`. */
function detachByte(name: string): number {
  const key = /^ctrl-([a-z[\]\\^_])$/.exec(name)?.[1];
  if (key) return key.toUpperCase().charCodeAt(0) & 0x1f;
  throw new HoldfastError('invalid_input', {
    what: '--detach-key',
    got: name,
    allowed: 'ctrl- and one of a to z, ], \\, ^ or _',
  });
}

/** Keys come from a terminal: without one nothing would end it, and piped input was not typed by a person. */
const needsTerminal = (): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'The standard input of `holdfast attach`',
    got: 'no terminal',
    allowed: 'a terminal; or anything with --watch or --json, which do not type',
    next: 'Follow the output with --watch, type with `holdfast input`, or run code with `holdfast exec`.',
  });

const noWay = (options: AttachOptions, why: string): HoldfastError =>
  new HoldfastError('not_found', {
    what: 'A terminal to attach to',
    got: `host ${options.host}: ${why}`,
    allowed: 'a listening host',
    next: `Run the code with \`holdfast exec${sameSession(options)} CODE\`, and attach without --run.`,
  });
