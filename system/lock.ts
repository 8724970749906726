// Mutual exclusion between processes on one machine. It is a kernel lock on a file, taken by SQLite, so it ends with
// its owner, even after kill -9, and there is no guessing whether a lock is stale.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type * as Sqlite from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from './make-folder';
import { requireNode } from './node-version';

const SQLITE_BUSY = 5;
const RETRY_MS = 25;
const EXCLUSIVE = 'BEGIN EXCLUSIVE';
/** A read takes a shared lock, which ends with the transaction. */
const SHARED = 'BEGIN; SELECT 1 FROM sqlite_master';

/** The garbage collector closes a database without references, such as one whose holder waits for ever: its lock would end. */
const held = new Set<Sqlite.DatabaseSync>();

/** How a caller waits for the lock. */
export interface LockOptions {
  /** Ends the waiting with the signal's reason; does not reach `fn`. */
  signal?: AbortSignal;
  /** Called once, if somebody else holds the lock. */
  onWait?: () => void;
}

/** Runs `fn` while no other process or call holds the lock file at `path`; creates the file and its folder. */
export async function withLock<T>(path: string, fn: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const release = await holdLock(path, options);
  try {
    return await fn();
  } finally {
    release();
  }
}

/** Holds the lock file at `path` until the returned function is called, or this process ends. Throws `node_too_old`. */
export async function holdLock(path: string, options: LockOptions = {}): Promise<() => void> {
  return opened(path, EXCLUSIVE, options);
}

/**
 * Holds the lock file at `path` until the returned function is called; undefined if somebody else holds it now. For work
 * that may as well be done by them, or later. Throws what SQLite says of a file that it cannot open.
 */
export function tryLock(path: string): (() => void) | undefined {
  requireNode();
  const { DatabaseSync } = sqlite();
  const db = new DatabaseSync(path);
  try {
    if (tryAcquire(db, EXCLUSIVE)) return keep(db);
  } catch (err) {
    db.close();
    throw err;
  }
  db.close();
  return undefined;
}

/** Whether somebody holds the lock file at `path` now. */
export function isHeld(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    const release = tryLock(path);
    release?.();
    return release === undefined;
  } catch {
    return false;
  }
}

/** Like `holdLock`, but many may hold it this way at once: only `holdLock` and `tryLock` exclude them. */
export async function holdShared(path: string, options: LockOptions = {}): Promise<() => void> {
  return opened(path, SHARED, options);
}

/** Loaded when it is needed: older Nodes, which have none, can import this module. */
function sqlite(): typeof Sqlite {
  const emitWarning = process.emitWarning.bind(process);
  // Node 22 prints that SQLite is experimental, to a user who cannot do anything about it.
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}

async function opened(path: string, begin: string, options: LockOptions): Promise<() => void> {
  requireNode();
  const { DatabaseSync } = sqlite();
  makeFolder(dirname(path));
  const db = new DatabaseSync(path);
  try {
    await acquire(db, begin, options);
  } catch (err) {
    db.close();
    throw err;
  }
  return keep(db);
}

/** Returns the function that releases its lock. */
function keep(db: Sqlite.DatabaseSync): () => void {
  held.add(db);
  return () => {
    held.delete(db);
    db.close();
  };
}

async function acquire(
  db: Sqlite.DatabaseSync,
  begin: string,
  { signal, onWait }: LockOptions,
): Promise<void> {
  for (let isReported = false; ;) {
    signal?.throwIfAborted();
    if (tryAcquire(db, begin)) return;
    if (!isReported) onWait?.();
    isReported = true;
    // Jitter: two callers that collide must not collide again for ever.
    await sleep(RETRY_MS * (0.5 + Math.random()));
  }
}

/** The transaction never writes, so its owner's death leaves no journal to roll back. */
function tryAcquire(db: Sqlite.DatabaseSync, begin: string): boolean {
  try {
    db.exec(begin);
    return true;
  } catch (err) {
    if (((err as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY) {
      if (begin !== EXCLUSIVE) rollBack(db);
      return false;
    }
    throw err;
  }
}

/** The first of two statements began the transaction. */
function rollBack(db: Sqlite.DatabaseSync): void {
  try {
    db.exec('ROLLBACK');
  } catch {
    // It did not begin.
  }
}
