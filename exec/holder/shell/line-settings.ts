// The terminal's line settings (termios), read and restored only when necessary: it costs a process.
import { execFile } from 'node:child_process';
import { readText } from '../../../system/processes/proc';
import { outsideProgram } from './outside-programs';

export interface LineSettings {
  echo: boolean;
  /** Input is collected into lines; the kernel keeps at most 4,095 bytes and a newline. */
  canonical: boolean;
  /** Ctrl-C and Ctrl-Z raise signals. */
  signals: boolean;
  /** A read lasts until something is typed: it has no time limit of its own. */
  blocks: boolean;
}

const FILE_FLAG = process.platform === 'linux' ? '-F' : '-f';
/** Initial settings of a shell; the same as in driver.bash. Ctrl-S and Ctrl-Q are ordinary keys. */
const USUAL = ['sane', '-ixon', 'iutf8'];
/** The output of `stty -g`. */
const SAVED = /^[0-9a-f:=]{1,500}$/i;
const RESTORE_MS = 2_000;
/** Of those on Linux: input, output and local flags in hexadecimal; elsewhere they have names. */
const FLAGS = /^([0-9a-f]+):([0-9a-f]+):[0-9a-f]+:([0-9a-f]+):/i;
const NAMED = /^(?=.*\biflag=([0-9a-f]+))(?=.*\boflag=([0-9a-f]+))(?=.*\blflag=([0-9a-f]+))/i;
/** ICRNL, OPOST and ICANON of termios(3). */
const NEEDED = process.platform === 'linux' ? [0o400, 1, 2] : [0x100, 1, 0x100];

export function lineSettings(tty: string): Promise<LineSettings> {
  return new Promise((resolve) => {
    execFile(outsideProgram('stty'), [FILE_FLAG, tty, '-a'], (error, stdout) => {
      const has = (name: string): boolean =>
        error !== null || !new RegExp(`(^|\\s)-${name}(\\s|;|$)`).test(stdout);
      const canonical = has('icanon');
      // VMIN and VTIME (termios(3)), which matter only outside of lines.
      const blocks = canonical || /\bmin = [1-9]\d*; time = 0;/.test(stdout);
      resolve({ echo: has('echo'), canonical, signals: has('isig'), blocks });
    });
  });
}

/**
 * Restores the settings that the session itself has chosen with `stty`, or else the default ones: a program may leave
 * raw mode behind, in which the next program that reads a line would wait for ever.
 */
export class KeptSettings {
  /** The output of `stty -g`; `-` for the default settings. */
  wanted = '-';
  private faultsBefore: string | undefined;
  private restored: Promise<void> = Promise.resolve();

  /**
   * Remembers the result of the session's own `stty`. Ignores anything that cannot be settings, and raw modes, which are
   * for the command that sets them: in the next one Enter would end no line.
   */
  keep(settings: string): void {
    if (settings === '-' || (SAVED.test(settings) && hasLines(settings))) this.wanted = settings;
  }

  /** Called after a command. Does nothing if no program has ended in it, since only a program can have changed them. */
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
 * Page faults of the processes that this one has waited for (proc(5), cminflt): every process causes some. Undefined if
 * the system does not report them.
 */
const faultsOfChildren = (pid: number): string | undefined =>
  /\) (?:\S+ ){8}(\d+) /.exec(readText(`/proc/${pid}/stat`) ?? '')?.[1];

/** Whether Enter ends a line, and a line end returns to the left. */
function hasLines(settings: string): boolean {
  const [, ...flags] = FLAGS.exec(settings) ?? NAMED.exec(settings) ?? [];
  return NEEDED.every((bit, n) => (parseInt(flags[n] ?? '0', 16) & bit) !== 0);
}
