// A machine of a team: a network, a host name, a boot and a data folder of its own. Its processes are those of its network
// namespace. Needs what network-link.ts needs, and unshare.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastWorker } from '../../../workers/process/worker-record';
import { withoutPage, type CliResult } from '../engines/command-lines';
import { NetworkLink } from './network-link';
import { until } from '../until';

const BIN = join(__dirname, '..', '..', '..', 'bin', 'holdfast.js');
const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const ENTER = `hostname "$1" && mount --bind "$2" ${BOOT_ID} && shift 2 && while [ "$1" != -- ]; do
  touch "$2" && mount --bind "$1" "$2" && shift 2 || exit; done; shift; exec "$@"`;

export class Machine {
  readonly dataDir: string;
  private readonly directory = mkdtempSync(join(tmpdir(), 'holdfast-machine-'));
  private readonly link: NetworkLink;
  private readonly boot = join(this.directory, 'boot-id');

  constructor(
    readonly name: string,
    private readonly namespace: string,
    /** Default: of its own. */
    shared?: string,
    /** Files in there whose locks hold on one machine only, as on some networks' file systems. */
    private readonly locks: readonly string[] = [],
  ) {
    this.dataDir = shared ?? join(this.directory, 'data');
    this.link = new NetworkLink(name);
    writeFileSync(this.boot, `${randomUUID()}\n`);
    for (const lock of locks) writeFileSync(join(this.directory, lock), '');
  }

  /** @param port where the Temporal server listens on the loopback of the real machine */
  open(port: number): Promise<void> {
    return this.link.open(port);
  }

  /** The command line on this machine. */
  cli(...args: string[]): Promise<CliResult> {
    const inside = ['unshare', '--uts', '--mount', 'sh', '-c', ENTER, 'sh', this.name, this.boot];
    const locks = this.locks.flatMap((lock) => [join(this.directory, lock), join(this.dataDir, lock)]);
    const holdfast = [process.execPath, BIN, ...withoutPage(args)];
    const server = ['--address', this.link.address, '--namespace', this.namespace];
    const [program = '', ...rest] = [...this.link.before, ...inside, ...locks, '--', ...holdfast, ...server];
    const env: NodeJS.ProcessEnv = { ...process.env, HOLDFAST_DATA: this.dataDir, NO_COLOR: '1' };
    delete env.TEMPORAL_ADDRESS;
    return new Promise((resolve) => {
      const child = execFile(program, rest, { env }, (_err, stdout, stderr) =>
        resolve({ code: child.exitCode, stdout, stderr }),
      );
    });
  }

  /** Starts its worker. Throws what was said if it did not start. */
  async up(...args: string[]): Promise<void> {
    const { code, stderr } = await this.cli('up', ...args);
    if (code !== 0) throw new Error(stderr);
  }

  /** Pid of the running worker. */
  get worker(): number {
    const record = lastWorker(this.dataDir);
    if (!record) throw new Error('no worker');
    return record.identity.pid;
  }

  /** Of all its processes. */
  get pids(): number[] {
    return this.link.pids;
  }

  /** All its processes stop, without a notice. */
  freeze(): void {
    this.signal('SIGSTOP');
  }

  thaw(): void {
    this.signal('SIGCONT');
  }

  cut(): void {
    this.link.cut();
  }

  /** For good: its processes are dead, and no connection of theirs ends. */
  async die(): Promise<void> {
    this.link.cut();
    this.signal('SIGKILL');
    await until(() => this.pids.length === 0);
  }

  async end(): Promise<void> {
    await this.die();
    await this.link.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private signal(signal: NodeJS.Signals): void {
    for (const pid of this.pids) {
      try {
        process.kill(pid, signal);
      } catch {
        // It ended meanwhile.
      }
    }
  }
}
