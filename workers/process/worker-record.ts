// A worker process's own record in the data folder: that it has started, and that it is still running.
import { accessSync, constants, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { isOwnRelease, type Release } from '../../system/package-root';
import { isStopped } from '../../system/processes/proc';
import { isAlive, type Identity } from '../../system/processes/process-identity';
import { readProcessRecord } from '../../system/processes/process-record';

export interface WorkerRecord {
  identity: Identity;
  release: Release;
  address: string;
  namespace: string;
  /** Null for one that serves only agents. */
  host: string | null;
  /** Task queue of its agents. */
  queue: string;
  /** Working folder of new shells. */
  cwd: string;
  /** The same as it was named; null: the default. */
  workdir: string | null;
  /** Modules with the user's own tools, by absolute path. */
  tools: string[];
  /** The named configuration; null: the data folder's, if it exists. */
  config: string | null;
  /** When it began to poll, in milliseconds since the Unix epoch. */
  pollingSince: number;
}

export const workerPaths = (
  dataDir: string,
): Record<'record' | 'started' | 'log' | 'lock' | 'beat', string> => ({
  record: join(dataDir, 'worker.json'),
  /** The one that was started last, ready or not. */
  started: join(dataDir, 'worker.started.json'),
  log: join(dataDir, 'worker.log'),
  lock: join(dataDir, 'worker.lock'),
  beat: join(dataDir, 'worker.beat'),
});

const BEAT_MS = 1_000;
/** Longer than a healthy worker is ever blocked. */
const SILENT_MS = 8_000;

/** The record of the data folder's last worker, even if it was killed. */
export const lastWorker = (dataDir: string): WorkerRecord | undefined =>
  readProcessRecord<WorkerRecord>(workerPaths(dataDir).record);

/** The same, if its process exists. */
export function runningWorker(dataDir: string): WorkerRecord | undefined {
  const record = lastWorker(dataDir);
  return record && isAlive(record.identity) ? record : undefined;
}

/** A Temporal server and a namespace on it. */
type ServedPlace = Pick<WorkerRecord, 'address' | 'namespace'>;

/** Whether a worker serves this place. A host of the same name at another place is another host. */
export const isOf = ({ address, namespace }: WorkerRecord, place: ServedPlace): boolean =>
  address === place.address && namespace === place.namespace;

/** Whether the release that started it is this one. */
export const isOfThisRelease = ({ release }: WorkerRecord): boolean => isOwnRelease(release);

/** For people: `0.1.0 in /opt/holdfast`. */
export const releaseText = ({ version, folder }: Release): string => `${version} in ${folder}`;

/** Beats to show that this process is running, until the returned function is called. */
export function startBeating(dataDir: string): () => void {
  const { beat } = workerPaths(dataDir);
  writeFileSync(beat, '', { mode: 0o600 });
  const timer = setInterval(() => {
    const now = new Date();
    try {
      utimesSync(beat, now, now);
    } catch {
      // For example, the folder is read-only: work continues, and readers check whether it is writable.
    }
  }, BEAT_MS).unref();
  return () => clearInterval(timer);
}

/**
 * An error that describes a worker whose process exists but does not answer; undefined if all is well.
 * @param place where it is missed: one that serves another is not
 */
export function findSilentWorker(dataDir: string, place?: ServedPlace): HoldfastError | undefined {
  const record = runningWorker(dataDir);
  if (!record || (place && !isOf(record, place))) return undefined;
  const reason = silenceOf(dataDir, record);
  return reason === undefined
    ? undefined
    : new HoldfastError('worker_silent', { pid: record.identity.pid, reason });
}

function silenceOf(dataDir: string, { identity }: WorkerRecord): string | undefined {
  const lastBeat = lastBeatOf(dataDir);
  const since = lastBeat && `its last beat was at ${lastBeat.toISOString()}`;
  if (isStopped(identity.pid)) return `it is stopped by a signal${since ? `, ${since}` : ''}`;
  const isLate = lastBeat && Date.now() - lastBeat.getTime() > SILENT_MS;
  return isLate && canBeat(dataDir) ? since : undefined;
}

/** In a read-only folder a worker cannot beat: then only the state of its process counts. */
function canBeat(dataDir: string): boolean {
  try {
    accessSync(workerPaths(dataDir).beat, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function lastBeatOf(dataDir: string): Date | undefined {
  try {
    return statSync(workerPaths(dataDir).beat).mtime;
  } catch {
    return undefined;
  }
}
