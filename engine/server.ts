// The embedded Temporal server of a data folder: at most one, started on demand, alive until it is stopped.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../contracts/errors';
import { removeQuietly } from '../exec/json-file';
import { isAlive } from '../exec/process-identity';
import { asStorageFailure } from '../exec/storage-failure';
import { answers } from './answers';
import { launchServer } from './launch';
import { locateServerBinary, type LocateOptions } from './locate';
import { holdLock, withLock } from './lock';
import { logSize, logTail, rotateLog } from './log-tail';
import { choosePorts, type NamedPorts } from './ports';
import { endGroup } from './process-end';
import { createEngineFolder, enginePaths, readRecord, type EnginePaths, type EngineRecord } from './record';

export type { EngineRecord } from './record';

const READY_TIMEOUT_MS = 60_000;
const READY_LOOK_EVERY_MS = 50;
const STOP_GRACE_MS = 10_000;
const STARTS = 3;

/** Which server is wanted; `signal` breaks off and leaves no half-started server. */
export interface EnsureOptions extends LocateOptions, NamedPorts {
  dataDir: string;
}

/**
 * Returns the data folder's server, ready to serve; starts it if it does not run, on the same database and if
 * possible on the same ports as before. The server outlives this process. Throws `engine_missing`,
 * `engine_failed`, `port_in_use` (for a named port), or `invalid_input` when it already runs on another port.
 */
export async function ensureServer(options: EnsureOptions): Promise<EngineRecord> {
  const running = await runningServer(options.dataDir);
  if (running) return withNamedPorts(running, options);
  const paths = enginePaths(options.dataDir);
  createEngineFolder(paths);
  return withLock(paths.lock, () => ensureLocked(paths, options), {
    signal: options.signal,
    onWait: () => options.progress('Another process is starting the Temporal server; waiting.'),
  });
}

/** The data folder's server if it runs and answers. */
export async function runningServer(dataDir: string): Promise<EngineRecord | undefined> {
  const record = readRecord(enginePaths(dataDir));
  return record && isAlive(record.identity) && (await answers(record)) ? record : undefined;
}

/** Stops the data folder's server and returns when its process is gone; false if none ran. */
export async function stopServer(dataDir: string): Promise<boolean> {
  const paths = enginePaths(dataDir);
  if (!existsSync(paths.folder)) return false;
  const stop = async (): Promise<boolean> => {
    const record = readRecord(paths);
    const ran = record !== undefined && isAlive(record.identity);
    if (ran) await endGroup(record.identity, STOP_GRACE_MS);
    // One that cannot be removed names a process that is gone.
    removeQuietly(paths.record);
    return ran;
  };
  // On a disk that is read-only or full there may be no lock; nobody can be starting a server there either.
  const release = await holdLock(paths.lock).catch((err: unknown) => {
    if (asStorageFailure(err) === err) throw err;
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
  if (before && isAlive(before.identity)) {
    // It is on record before it answers: whoever started it may have been killed in between.
    if ((await waitUntilReady(before, options.signal)) === 'ready') return withNamedPorts(before, options);
    await endGroup(before.identity, STOP_GRACE_MS);
  }
  const { path } = await locateServerBinary(options);
  rotateLog(paths.logFile);
  return startServer(path, paths, options, before);
}

/** A free port may be taken before the server has it: then it chooses again. */
async function startServer(
  binary: string,
  paths: EnginePaths,
  options: EnsureOptions,
  before: EngineRecord | undefined,
): Promise<EngineRecord> {
  const { env, signal, progress } = options;
  for (let start = 1; ; start++) {
    const ports = await choosePorts(options, before);
    const logFrom = logSize(paths.logFile);
    signal?.throwIfAborted();
    progress(`Starting the Temporal server on port ${ports.port}.`);
    const record = launchServer({ binary, ports, paths, env });
    const outcome = await waitUntilReady(record, signal).catch(async (err: unknown) => {
      await endGroup(record.identity, STOP_GRACE_MS);
      throw err;
    });
    if (outcome === 'ready') return record;
    await endGroup(record.identity, STOP_GRACE_MS);
    const tail = logTail(paths.logFile, logFrom);
    if (start < STARTS && tail.includes('address already in use')) continue;
    const what = outcome === 'ended' ? 'it ended' : `it did not answer within ${READY_TIMEOUT_MS} ms`;
    throw new HoldfastError('engine_failed', {
      reason: `${what}: ${tail || 'its log is empty'}`,
      log: paths.logFile,
    });
  }
}

async function waitUntilReady(
  record: EngineRecord,
  signal?: AbortSignal,
): Promise<'ready' | 'ended' | 'silent'> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < deadline) {
    signal?.throwIfAborted();
    // In this order: an answer from a process that lives after it was given is its own.
    if ((await answers(record)) && isAlive(record.identity)) return 'ready';
    if (!isAlive(record.identity)) return 'ended';
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
    next: 'Leave the port away, or stop the server with `holdfast down` first.',
  });
}
