// One pipe for both streams of a program, which keeps their output in order. Node makes a separate socket for each,
// which loses the order and which programs cannot open as /dev/stderr.
import { execFile } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The most that can remain in a pipe after its program has ended (pipe(7), fcntl F_SETPIPE_SZ). */
const MOST_LEFT_BYTES = 1024 * 1024;

export interface OutputPipe {
  /** For the program's stdout and stderr; call `release` once the program has it. */
  fd: number;
  release(): void;
  /** Reads the output so far and closes our end of the pipe, which others may still hold. */
  finish(): void;
}

/** Calls `onData` with the output. */
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
    // Does not wait for its end: a background job may hold the pipe forever.
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
