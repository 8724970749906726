// A host as a person starts one on another machine: `holdfast host serve`, with its own data folder and root.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionRef } from '../../../contracts/ids';
import { SessionHost } from '../../../exec/host/session-host';
import { CommandLines } from '../engines/command-lines';
import { endDataFolder } from '../engines/end-data-folder';
import { pathOf } from '../run/programs';

const BIN = join(__dirname, '..', '..', '..', 'bin', 'holdfast.js');

export class RemoteHost {
  /** That of another release, from the next start. */
  bin = BIN;
  readonly dataDir = mkdtempSync(join(tmpdir(), 'holdfast-remote-'));
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-root-')));
  private serving: ChildProcess | undefined;
  private readonly lines = new CommandLines();
  private said = '';

  constructor(
    readonly name: string,
    private readonly address: string,
    /** A command prefix, for example to start it in a network namespace. */
    private readonly before: readonly string[] = [],
    private readonly node = process.execPath,
  ) {}

  /** Resolves when it polls; rejects with its output if it ends before. */
  async serve(...args: string[]): Promise<void> {
    // It makes the certificate.
    if (args.includes('--listen')) pathOf('openssl');
    const command = [this.node, this.bin, 'host', 'serve', this.name, '--address', this.address];
    const [program = '', ...rest] = [...this.before, ...command, '--root', this.root, ...args];
    const child = spawn(program, rest, { env: this.env, stdio: ['ignore', 'ignore', 'pipe'] });
    this.serving = child;
    this.said = '';
    const ready = new Promise<void>((resolve) => {
      child.stderr.on('data', (chunk: Buffer) => {
        this.said += chunk.toString();
        if (this.said.includes('shells start in')) resolve();
      });
    });
    const ended = once(child, 'close').then(() => Promise.reject(new Error(this.said)));
    // Unheard once it serves.
    ended.catch(() => undefined);
    await Promise.race([ready, ended]);
  }

  /** Resolves with the exit code; null if the signal itself ended it, or if it did not run. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    const child = this.serving;
    if (!child || child.exitCode !== null || child.signalCode !== null) return null;
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
    return child.exitCode;
  }

  /** Nothing answers any more, and no connection ends: as if its cable was pulled. */
  fallSilent(): void {
    this.serving?.kill('SIGSTOP');
  }

  goOn(): void {
    this.serving?.kill('SIGCONT');
  }

  /** The command line on this machine. */
  async cli(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.lines.run(args, { cwd: process.cwd(), env: this.env });
    if (code !== 0) throw new Error(stderr);
    return stdout;
  }

  /** Sessions whose terminal is open here. */
  open(): SessionRef[] {
    const host = new SessionHost({ dataDir: this.dataDir, cwd: '/', env: {}, treeKill: 'process-search' });
    return host.list().filter((ref) => host.isOpen(ref));
  }

  async end(): Promise<void> {
    await this.kill('SIGTERM');
    this.lines.end();
    await endDataFolder(this.dataDir);
    for (const folder of [this.dataDir, this.root]) rmSync(folder, { recursive: true, force: true });
  }

  private get env(): NodeJS.ProcessEnv {
    const env: NodeJS.ProcessEnv = { ...process.env, HOLDFAST_DATA: this.dataDir, NO_COLOR: '1' };
    delete env.TEMPORAL_ADDRESS;
    return env;
  }
}
