// The end of the server's log, for error messages; and its size, kept bounded over many starts.
import { closeSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import type { LogLimits } from './bounded-log';

const TAIL_BYTES = 4_096;
const TAIL_LINES = 5;
/** Node's own lines, which never explain why a process ended. */
const NODE_WARNING = /^\(node:\d+\) ExperimentalWarning:|^\(Use `node --trace-warnings/;
const MAX_LOG_BYTES = 10_000_000;

/** While the server runs, too. */
export const SERVER_LOG: LogLimits = { maxBytes: MAX_LOG_BYTES, keep: 1 };

/** The last lines written to the file after byte `from`; empty if there are none. */
export const logTail = (path: string, from: number): string =>
  withoutNodeWarnings(read(path, from, TAIL_BYTES).trim())
    .split('\n')
    .slice(-TAIL_LINES)
    .join('\n');

/** Whether a text was written after byte `from`: a program's reason may stand far above its last lines. */
export const logHas = (path: string, from: number, text: string): boolean =>
  read(path, from, MAX_LOG_BYTES).includes(text);

/** What was written after byte `from`: at most so many bytes of its end. */
function read(path: string, from: number, maxBytes: number): string {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    const size = fstatSync(fd).size;
    const start = Math.max(from, size - maxBytes);
    const buffer = Buffer.alloc(Math.max(0, size - start));
    readSync(fd, buffer, 0, buffer.length, start);
    return buffer.toString();
  } finally {
    closeSync(fd);
  }
}

const withoutNodeWarnings = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !NODE_WARNING.test(line))
    .join('\n');

/** Size in bytes; 0 for a file that does not exist. */
export function logSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Moves a large log aside (one is kept). Call only at start: a running server continues to write to the old file. */
export function rotateLog(path: string): void {
  if (logSize(path) > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
}
