// A person attached to a session.
import * as pty from 'node-pty';
import { packageRoot } from '../../../system/package-root';
import { join } from 'node:path';
import { until } from '../until';

/**
 * Shell code that prints the size of its terminal whenever it has another one. Not a trap of SIGWINCH: bash forgets a
 * signal that comes while it runs the trap of the one before.
 */
export const TELL_SIZE = 'now=$(stty size); [ "$now" = "$size" ] || echo "$now"; size=$now';

const BIN = join(packageRoot(), 'bin', 'holdfast.js');

interface Setting {
  cwd?: string;
  shell?: string;
  /** The program of another release. */
  bin?: string;
  /** Of the command line. Default `attach`. */
  command?: string;
}

/** The command line in a terminal, as a person has it before them. */
export class Person {
  text = '';
  exitCode: number | null = null;
  private readonly terminal: pty.IPty;

  /** @param shell code that a shell runs before it execs the command line, whose words are "$@" */
  constructor(
    dataDir: string,
    args: string[],
    { cwd, shell = 'exec "$@"', command: name = 'attach', bin = BIN }: Setting = {},
  ) {
    const { PATH = '', TEMPORAL_NAMESPACE } = process.env;
    const env = {
      PATH,
      ...(TEMPORAL_NAMESPACE && { TEMPORAL_NAMESPACE }),
      HOME: dataDir,
      HOLDFAST_DATA: dataDir,
      TERM: 'xterm-256color',
    };
    const command = [process.execPath, bin, name, ...args];
    const words = ['-c', shell, 'sh', ...command];
    this.terminal = pty.spawn('/bin/sh', words, { cols: 80, rows: 24, env, ...(cwd && { cwd }) });
    this.terminal.onData((data) => (this.text += data));
    this.terminal.onExit(({ exitCode }) => (this.exitCode = exitCode));
  }

  async sees(text: string): Promise<void> {
    await until(() => this.text.includes(text) || this.exitCode !== null).catch(() => undefined);
    expect(this.text).toContain(text);
  }
  types(text: string): void {
    this.terminal.write(text);
  }
  resize(cols: number, rows: number): void {
    this.terminal.resize(cols, rows);
  }
  signals(signal: string): void {
    this.terminal.kill(signal);
  }
  async exits(): Promise<number | null> {
    await until(() => this.exitCode !== null);
    return this.exitCode;
  }
}
/** The detach key. */
export const LEAVE = '\x1d';
