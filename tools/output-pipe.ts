// One pipe for both streams of a program, so that what it prints to either comes in its order. Node makes a socket
// of its own for each, which loses the order and which programs cannot open as /dev/stderr.
import { execFile } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What is left in a pipe when its program has ended is at most so much (pipe(7), fcntl F_SETPIPE_SZ). */
const MOST_LEFT_BYTES = 1024 * 1024;

export interface OutputPipe {
  /** For stdout and stderr of the program; `release` it when the program has it. */
  fd: number;
  release(): void;
  /** Takes what was printed up to now and lets go of the pipe, which others may still hold. */
  finish(): void;
}

/** Calls `onData` with what is printed. */
export async function openOutputPipe(onData: (data: Buffer) => void): Promise<OutputPipe> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-pipe-'));
  const path = join(folder, 'output');
  const opened: number[] = [];
  const openEnd = (flags: number): number => {
    const fd = openSync(path, flags);
    opened.push(fd);
    return fd;
  };
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', path]);
    const fd = openEnd(constants.O_RDONLY | constants.O_NONBLOCK);
    const rest = openEnd(constants.O_RDONLY | constants.O_NONBLOCK);
    const input = openEnd(constants.O_WRONLY);
    // Its end is not waited for: a background job may hold the pipe for ever.
    const reader = new Socket({ fd, readable: true, writable: false });
    reader.on('data', onData);
    reader.on('error', () => undefined);
    const finish = (): void => {
      reader.destroy();
      readRest(rest, onData);
      closeSync(rest);
    };
    return { fd: input, release: () => closeSync(input), finish };
  } catch (err) {
    for (const fd of opened) closeSync(fd);
    throw err;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readRest(fd: number, onData: (data: Buffer) => void): void {
  for (let left = MOST_LEFT_BYTES; left > 0;) {
    const data = Buffer.allocUnsafe(64 * 1024);
    let bytes: number;
    try {
      bytes = readSync(fd, data);
    } catch (err) {
      if ((err as NodeJS.ErrnoException).code === 'EAGAIN') return;
      throw err;
    }
    if (bytes === 0) return;
    left -= bytes;
    onData(data.subarray(0, bytes));
  }
}
