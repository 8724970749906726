// The embedded Temporal server of a data folder: at most one, started on demand, alive until it is stopped.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { removeQuietly } from '../system/json-file';
import { isStopped } from '../system/processes/proc';
import { isAlive } from '../system/processes/process-identity';
import { refuseIfStopped } from '../system/processes/stop-marker';
import { asStorageFailure } from '../system/storage-failure';
import { answers, guardAnswers } from './probe-server';
import { launchServer, SERVER } from './launch';
import { launchGuard } from './ui-guard/launch-guard';
import { locateServerBinary, type LocateOptions } from './binary/locate';
import { holdLock, isHeld, withLock } from '../system/lock';
import { logHas, logSize, logTail, rotateLog } from '../system/log/log-tail';
import { chooseHiddenPorts, choosePorts, type NamedPorts } from './ports';
import { endGroup } from '../system/processes/process-end';
import {
  createEngineFolder,
  enginePaths,
  readRecord,
  writeRecord,
  type EnginePaths,
  type EngineRecord,
} from './record';
import type { Pragmas, Settings } from './tuning';
import { openingLink } from './ui-guard/ui-guard-rules';
import { uiToken } from './ui-guard/ui-token';

export type { EngineRecord } from './record';

const READY_TIMEOUT_MS = 60_000;
const READY_LOOK_EVERY_MS = 50;
const STOP_GRACE_MS = 10_000;
/** What holds the lock for longer may be frozen, or may be downloading the server. */
const STOP_PATIENCE_MS = 10_000;
/** A guard sees within half a second that its server was killed. */
const ELSEWHERE_MS = 3_000;
const STARTS = 5;
const TELL_MS = 3_000;

type Readiness = 'ready' | 'ended' | 'silent';

/** Which server is wanted; `signal` aborts and leaves no half-started server. */
export interface EnsureOptions extends LocateOptions, NamedPorts {
  dataDir: string;
  /** Dynamic configuration of a server that is started, beside ours; tests lower limits with it. */
  settings?: Settings | undefined;
  /** Pragmas of its database instead of ours; tests that end no machine need not wait for its disk. */
  database?: Pragmas | undefined;
}

/**
 * Returns the data folder's server, ready to serve; starts it if necessary, on the same database and if possible on the
 * same ports as before. The server outlives this process. Throws `engine_missing`, `engine_failed`, `port_in_use` (for
 * a named port), `no_server` if its process is stopped by a signal, or `invalid_input` if it already runs on another port.
 */
export async function ensureServer(options: EnsureOptions): Promise<EngineRecord> {
  const running = await runningServer(options.dataDir);
  if (running && isGuarded(running)) return withNamedPorts(running, options);
  const paths = enginePaths(options.dataDir);
  createEngineFolder(paths);
  return withLock(paths.lock, () => ensureLocked(paths, options), {
    signal: options.signal,
    onWait: () =>
      options.progress(
        'Another process is starting the Temporal server, or waits for it to answer; waiting.',
      ),
  });
}

/** False if people cannot open the web UI: its guard died, or is stopped. */
export const isGuarded = (record: EngineRecord): boolean => hasGuard(record) && !isGuardStopped(record);

/** By a signal. */
export const isGuardStopped = ({ guard }: EngineRecord): boolean => isAlive(guard) && isStopped(guard.pid);

const hasGuard = ({ guard }: EngineRecord): boolean => isAlive(guard);

/** A link to a path of the web UI that opens it in any browser. It contains the token. */
export function uiLink(dataDir: string, { uiUrl }: EngineRecord, path = '/'): string {
  return openingLink(uiUrl + path, uiToken(enginePaths(dataDir).uiAuthorization));
}

/** The data folder's server if it runs and answers. */
export async function runningServer(dataDir: string): Promise<EngineRecord | undefined> {
  const record = readRecord(enginePaths(dataDir));
  return record && isAlive(record.identity) && (await answers(record)) ? record : undefined;
}

/** Why the data folder's server does not answer although its process exists; undefined if it answers, or none runs. */
export async function findSilentServer(dataDir: string): Promise<HoldfastError | undefined> {
  const record = readRecord(enginePaths(dataDir));
  return record && isAlive(record.identity) && !(await answers(record)) ? silent(record) : undefined;
}

function silent(record: EngineRecord): HoldfastError {
  const { address, identity } = record;
  const { pid } = identity;
  const anew = '`holdfast down`, then `holdfast up` starts another on the same database.';
  return isStopped(pid)
    ? new HoldfastError('no_server', {
        ...{ address, reason: `its process ${pid} is stopped by a signal` },
        next: `\`kill -CONT ${pid}\` lets it continue; ${anew}`,
      })
    : new HoldfastError('no_server', {
        ...{ address, reason: `its process ${pid} exists but does not answer` },
        next: `Try again if it has just been started. If it stays silent: ${anew}`,
      });
}

/** Stops the data folder's server and returns when its process is gone; false if none ran. */
export async function stopServer(dataDir: string): Promise<boolean> {
  const paths = enginePaths(dataDir);
  if (!existsSync(paths.folder)) return false;
  const stop = async (): Promise<boolean> => {
    const record = readRecord(paths);
    const ran = record !== undefined && isAlive(record.identity);
    if (record) await endServer(record);
    if (!ran && isHeld(paths.running)) throw elsewhere(record);
    // If it cannot be removed, it names a process that is gone.
    removeQuietly(paths.record);
    return ran;
  };
  // A server is recorded before it runs, and none begins while `down` applies.
  const signal = AbortSignal.timeout(STOP_PATIENCE_MS);
  const release = await holdLock(paths.lock, { signal }).catch((err: unknown) => {
    // On a read-only or full disk a lock may be impossible; no server can be starting there either.
    if (!signal.aborted && asStorageFailure(err) === err) throw err;
    return (): void => undefined;
  });
  try {
    return await stop();
  } finally {
    release();
  }
}

async function ensureLocked(paths: EnginePaths, options: EnsureOptions): Promise<EngineRecord> {
  const before = readRecord(paths);
  const token = uiToken(paths.uiAuthorization);
  if (before && isAlive(before.identity)) {
    // It is recorded before it answers: its starter may have been killed in between.
    const record = isGuarded(before) ? before : await guardAgain(before, paths);
    if (isStopped(before.identity.pid)) throw silent(before);
    if ((await waitForRunning(record, token, options)) === 'ready') return withNamedPorts(record, options);
  }
  if (before) await endServer(before);
  await refuseElsewhere(paths, before);
  const { path } = await locateServerBinary(options);
  rotateLog(paths.logFile);
  return startServer({ binary: path, paths, token, before }, options);
}

/** Processes of another pid namespace, such as a container's, cannot be seen from here; their locks can. */
async function refuseElsewhere(paths: EnginePaths, before: EngineRecord | undefined): Promise<void> {
  const signal = AbortSignal.timeout(ELSEWHERE_MS);
  try {
    (await holdLock(paths.running, { signal }))();
  } catch (err) {
    throw signal.aborted ? elsewhere(before) : err;
  }
}

const elsewhere = (record: EngineRecord | undefined): HoldfastError =>
  new HoldfastError('no_server', {
    address: record?.address ?? 'the embedded server',
    reason: record
      ? 'the server of this data folder runs in another container or pid namespace'
      : 'a server of this data folder runs, and its record is lost',
    next: record
      ? 'Use the folder there, or stop that server with `holdfast down` there; or name it with --address.'
      : 'End that process yourself (its command line has the path of temporal.db), then try again.',
  });

/** Whether the server of the data folder runs where its process cannot be seen from here, such as in a container. */
export function runsElsewhere(dataDir: string): boolean {
  const paths = enginePaths(dataDir);
  const record = readRecord(paths);
  return record !== undefined && !isAlive(record.identity) && !hasGuard(record) && isHeld(paths.running);
}

/** It may have just been started; one that stays silent is replaced, after a line that says so. */
async function waitForRunning(
  record: EngineRecord,
  token: string,
  { progress, signal }: EnsureOptions,
): Promise<Readiness> {
  const { pid } = record.identity;
  const limit = `${READY_TIMEOUT_MS / 1_000} seconds`;
  const notice = setTimeout(
    () => progress(`The Temporal server (pid ${pid}) does not answer; after ${limit} it is replaced.`),
    TELL_MS,
  );
  try {
    return await waitUntilReady(record, token, signal);
  } finally {
    clearTimeout(notice);
  }
}

async function guardAgain(record: EngineRecord, paths: EnginePaths): Promise<EngineRecord> {
  // One that is stopped keeps the port.
  await endGroup(record.guard, STOP_GRACE_MS);
  const guard = launchGuard(record, paths);
  const guarded = { ...record, guard };
  try {
    writeRecord(paths, guarded);
  } catch (err) {
    // It would keep the port from the next one.
    await endGroup(guard, STOP_GRACE_MS);
    throw err;
  }
  return guarded;
}

async function endServer({ identity, guard }: EngineRecord): Promise<void> {
  await Promise.all([identity, guard].map((each) => endGroup(each, STOP_GRACE_MS)));
}

interface Start {
  binary: string;
  paths: EnginePaths;
  token: string;
  before: EngineRecord | undefined;
}

/** A free port may be taken before the server has it: then it chooses again. */
async function startServer(
  { binary, paths, token, before }: Start,
  options: EnsureOptions,
): Promise<EngineRecord> {
  const { dataDir, env, signal, progress, settings, database } = options;
  for (let start = 1; ; start++) {
    // Others that start at this moment want the usual ports, too, and each may get one of them.
    const chosen = await choosePorts(options, before, { usual: start === 1 });
    const ports = { ...chosen, ...(await chooseHiddenPorts(chosen)) };
    const logFrom = logSize(paths.logFile);
    signal?.throwIfAborted();
    progress(`Starting the Temporal server on port ${ports.port}.`);
    const record = launchServer({ dataDir, binary, ports, paths, env, settings, database });
    const outcome = await waitUntilReady(record, token, signal).catch(async (err: unknown) => {
      await endServer(record);
      throw err;
    });
    if (outcome === 'ready') return record;
    await endServer(record);
    refuseIfStopped(dataDir, SERVER);
    const tail = logTail(paths.logFile, logFrom);
    if (start < STARTS && logHas(paths.logFile, logFrom, 'address already in use')) continue;
    const what = outcome === 'ended' ? 'it ended' : `it did not answer within ${READY_TIMEOUT_MS} ms`;
    throw new HoldfastError('engine_failed', {
      reason: `${what}: ${tail || 'its log is empty'}`,
      log: paths.logFile,
    });
  }
}

async function waitUntilReady(record: EngineRecord, token: string, signal?: AbortSignal): Promise<Readiness> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  const isRunning = (): boolean => isAlive(record.identity) && isGuarded(record);
  while (performance.now() < deadline) {
    signal?.throwIfAborted();
    // In this order: if the processes are still alive after the answer, the answer was theirs.
    if ((await answers(record)) && (await guardAnswers(record, token)) && isRunning()) return 'ready';
    if (!isRunning()) return 'ended';
    await sleep(READY_LOOK_EVERY_MS);
  }
  return 'silent';
}

function withNamedPorts(
  record: EngineRecord,
  { port = record.port, uiPort = record.uiPort }: NamedPorts,
): EngineRecord {
  if (port === record.port && uiPort === record.uiPort) return record;
  throw new HoldfastError('invalid_input', {
    what: 'The port of the Temporal server',
    got: `${port} (web UI ${uiPort})`,
    allowed: `${record.port} (web UI ${record.uiPort}), where this data folder's server already runs`,
    next: 'Omit the port, or stop the server with `holdfast down` first.',
  });
}
