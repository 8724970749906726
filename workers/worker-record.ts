// What a worker process says of itself in the data folder: that it began, and that it still goes on.
import { accessSync, constants, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../contracts/errors';
import { readJson } from '../exec/json-file';
import { livingStat } from '../exec/proc';
import { isAlive, type Identity } from '../exec/process-identity';

export interface WorkerRecord {
  identity: Identity;
  address: string;
  namespace: string;
  /** Null for one that serves agents alone. */
  host: string | null;
  /** Task queue of its agents. Absent in records before 0.3. */
  queue?: string;
  /** Working folder of new shells. */
  cwd: string;
  /** Modules of own tools, by absolute path. */
  tools: string[];
  /** The configuration that was named; null: that of the data folder, where there is one. */
  config: string | null;
  /** When it began to poll, in milliseconds since the Unix epoch. */
  pollingSince: number;
}

export const workerPaths = (dataDir: string): Record<'record' | 'log' | 'lock' | 'beat', string> => ({
  record: join(dataDir, 'worker.json'),
  log: join(dataDir, 'worker.log'),
  lock: join(dataDir, 'worker.lock'),
  beat: join(dataDir, 'worker.beat'),
});

const BEAT_MS = 1_000;
/** Longer than a worker that does its work is ever busy with one thing. */
const SILENT_MS = 8_000;

/** The record of the data folder's worker, of one that was killed too. */
export const lastWorker = (dataDir: string): WorkerRecord | undefined =>
  readJson<WorkerRecord>(workerPaths(dataDir).record);

/** The same while its process is there. */
export function runningWorker(dataDir: string): WorkerRecord | undefined {
  const record = lastWorker(dataDir);
  return record && isAlive(record.identity) ? record : undefined;
}

/** Says again and again that this process goes on, until the function that it returns is called. */
export function startBeating(dataDir: string): () => void {
  const { beat } = workerPaths(dataDir);
  writeFileSync(beat, '', { mode: 0o600 });
  const timer = setInterval(() => {
    const now = new Date();
    try {
      utimesSync(beat, now, now);
    } catch {
      // A folder that cannot be written, say: the work goes on, and those who look see that it cannot.
    }
  }, BEAT_MS).unref();
  return () => clearInterval(timer);
}

/** The worker whose process is there and does not answer, as the error that says so; undefined where all is well. */
export function findSilentWorker(dataDir: string): HoldfastError | undefined {
  const record = runningWorker(dataDir);
  const reason = record && silenceOf(dataDir, record);
  return reason === undefined
    ? undefined
    : new HoldfastError('worker_silent', { pid: record?.identity.pid, reason });
}

function silenceOf(dataDir: string, { identity }: WorkerRecord): string | undefined {
  const lastBeat = lastBeatOf(dataDir);
  const since = lastBeat && `its last beat was at ${lastBeat.toISOString()}`;
  const state = livingStat(identity.pid)?.state;
  if (state === 'T' || state === 't') return `it is stopped by a signal${since ? `, ${since}` : ''}`;
  const isLate = lastBeat && Date.now() - lastBeat.getTime() > SILENT_MS;
  return isLate && canBeat(dataDir) ? since : undefined;
}

/** In a folder that cannot be written a worker beats in vain: then its process alone says how it is. */
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
    // A worker of an older release writes none.
    return undefined;
  }
}
