// Mutual exclusion between processes on one machine. The lock is a kernel lock on a file (SQLite takes it for
// us), so it ends with its owner, kill -9 included, and nobody has to guess whether a lock is stale.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { requireNode } from './node-version';

const SQLITE_BUSY = 5;
const RETRY_MS = 25;

/** How a caller waits for the lock. */
export interface LockOptions {
  /** Ends the waiting with the signal's reason; does not reach `fn`. */
  signal?: AbortSignal;
  /** Called once, when the lock is held by somebody else. */
  onWait?: () => void;
}

/** Runs `fn` while no other process or call holds the lock file at `path`; the file and its folder are created. */
export async function withLock<T>(path: string, fn: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const release = await holdLock(path, options);
  try {
    return await fn();
  } finally {
    release();
  }
}

/** Takes the lock file at `path` until what is returned is called, or this process ends. Throws `node_too_old`. */
export async function holdLock(path: string, options: LockOptions = {}): Promise<() => void> {
  requireNode();
  // Only now: whoever merely imports Holdfast on an older Node is to be told so in words.
  const { DatabaseSync } = await import('node:sqlite');
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const db = new DatabaseSync(path);
  try {
    await acquire(db, options);
  } catch (err) {
    db.close();
    throw err;
  }
  return () => db.close();
}

async function acquire(db: DatabaseSync, { signal, onWait }: LockOptions): Promise<void> {
  for (let told = false; ;) {
    signal?.throwIfAborted();
    if (tryAcquire(db)) return;
    if (!told) onWait?.();
    told = true;
    // Jitter: two that collide while both are taking the lock must not collide again for ever.
    await sleep(RETRY_MS * (0.5 + Math.random()));
  }
}

/** Nothing is ever written in the transaction, so its owner's death leaves no journal to roll back. */
function tryAcquire(db: DatabaseSync): boolean {
  try {
    db.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (err) {
    if (((err as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY) return false;
    throw err;
  }
}
