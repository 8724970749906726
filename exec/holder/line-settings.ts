// The terminal's line settings (termios), asked for only when they matter: it costs a process.
import { execFile } from 'node:child_process';
import { outsideProgram } from './outside-programs';

export interface LineSettings {
  echo: boolean;
  /** Input is collected into lines, of which the kernel keeps at most 4,095 bytes and a newline. */
  canonical: boolean;
  /** Ctrl-C and Ctrl-Z raise signals. */
  signals: boolean;
}

export function lineSettings(tty: string): Promise<LineSettings> {
  const flag = process.platform === 'linux' ? '-F' : '-f';
  return new Promise((resolve) => {
    execFile(outsideProgram('stty'), [flag, tty, '-a'], (error, stdout) => {
      const has = (name: string): boolean =>
        error !== null || !new RegExp(`(^|\\s)-${name}(\\s|;|$)`).test(stdout);
      resolve({ echo: has('echo'), canonical: has('icanon'), signals: has('isig') });
    });
  });
}
