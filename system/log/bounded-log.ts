// Keeps the log file of a running process small: what it has is moved aside, and the file is emptied. Not renamed: its
// processes hold it open.
import { copyFileSync, fstatSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import { reasonOf } from '../../contracts/errors/holdfast-error';

export interface LogLimits {
  /** Beyond this the file is moved aside, in bytes. */
  maxBytes: number;
  /** How many older files are kept: `.1` is the latest. */
  keep: number;
}

const LOOK_EVERY_MS = 10_000;
const STDERR = 2;

/**
 * Looks at the log file regularly, if stderr leads there, until the returned function is called. Other processes that
 * have it open must append (O_APPEND).
 */
export function keepBounded(
  path: string,
  limits: LogLimits,
  warn: (message: string, facts: Record<string, unknown>) => void,
): () => void {
  if (!leadsTo(path)) return () => undefined;
  let hasFailed = false;
  const timer = setInterval(() => {
    try {
      rotateOpen(path, limits);
      hasFailed = false;
    } catch (err) {
      if (!hasFailed) warn('the log could not be moved aside', { reason: reasonOf(err) });
      hasFailed = true;
    }
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Moves what is in the file aside, if it is large; the file itself stays open for its writers. */
export function rotateOpen(path: string, { maxBytes, keep }: LogLimits): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= maxBytes) return;
  const older = (n: number): string => `${path}.${n}`;
  rmSync(older(keep), { force: true });
  for (let n = keep - 1; n >= 1; n -= 1)
    if (statSync(older(n), { throwIfNoEntry: false })) renameSync(older(n), older(n + 1));
  // On a full disk nothing is copied, and the file is emptied all the same: it is what fills the disk.
  try {
    if (keep > 0) copyFileSync(path, older(1));
  } catch (err) {
    rmSync(older(1), { force: true });
    truncateSync(path);
    throw err;
  }
  truncateSync(path);
}

function leadsTo(path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file) return false;
  const { dev, ino } = fstatSync(STDERR);
  return dev === file.dev && ino === file.ino;
}
