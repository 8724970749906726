// The terminal's line settings (termios), asked for and put back only when that matters: it costs a process.
import { execFile } from 'node:child_process';
import { readText } from '../proc';
import { outsideProgram } from './outside-programs';

export interface LineSettings {
  echo: boolean;
  /** Input is collected into lines, of which the kernel keeps at most 4,095 bytes and a newline. */
  canonical: boolean;
  /** Ctrl-C and Ctrl-Z raise signals. */
  signals: boolean;
}

const FILE_FLAG = process.platform === 'linux' ? '-F' : '-f';
/** What a shell begins with; the same in driver.bash. Ctrl-S and Ctrl-Q are keys like others. */
const USUAL = ['sane', '-ixon', 'iutf8'];
/** As `stty -g` writes them. */
const SAVED = /^[0-9a-f:=]{1,500}$/i;
const RESTORE_MS = 2_000;

export function lineSettings(tty: string): Promise<LineSettings> {
  return new Promise((resolve) => {
    execFile(outsideProgram('stty'), [FILE_FLAG, tty, '-a'], (error, stdout) => {
      const has = (name: string): boolean =>
        error !== null || !new RegExp(`(^|\\s)-${name}(\\s|;|$)`).test(stdout);
      resolve({ echo: has('echo'), canonical: has('icanon'), signals: has('isig') });
    });
  });
}

/**
 * Puts the settings back to what the session itself has asked for with `stty`, or else to the usual ones: a program may
 * end and leave raw mode behind, in which the next one that reads a line would wait for ever.
 */
export class KeptSettings {
  /** As `stty -g` writes them; `-` for the usual ones. */
  wanted = '-';
  private faultsBefore: string | undefined;
  private restored: Promise<void> = Promise.resolve();

  /** Remembers what the session's own `stty` has made. What cannot be settings is ignored. */
  keep(settings: string): void {
    if (settings === '-' || SAVED.test(settings)) this.wanted = settings;
  }

  /** After a command: without a wait where no program has ended in it, since only a program can have changed them. */
  restore(tty: string | undefined, shellPid: number | undefined): void {
    const faults = shellPid === undefined ? undefined : faultsOfChildren(shellPid);
    if (faults !== undefined && faults === this.faultsBefore) return;
    this.faultsBefore = faults;
    if (tty === undefined) return;
    const settings = this.wanted === '-' ? USUAL : [this.wanted];
    this.restored = new Promise((resolve) => {
      execFile(outsideProgram('stty'), [FILE_FLAG, tty, ...settings], { timeout: RESTORE_MS }, () =>
        resolve(),
      );
    });
  }

  untilRestored(): Promise<void> {
    return this.restored;
  }
}

/**
 * Page faults of the processes that this one has waited for (proc(5), cminflt): none ends without one. Undefined where
 * the system does not tell.
 */
const faultsOfChildren = (pid: number): string | undefined =>
  /\) (?:\S+ ){8}(\d+) /.exec(readText(`/proc/${pid}/stat`) ?? '')?.[1];
