// A worker that a test may kill, in a data folder of its own; and a namespace of the run's Temporal server or, for tests
// that kill, stop or look into the server, a server of their own.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CrashPoint } from '../../../system/faults/crash-point';
import { HoldfastClient } from '../../../client/holdfast-client';
import { enginePaths, readRecord, type EngineRecord } from '../../../engine/record';
import { isAlive } from '../../../system/processes/process-identity';
import { stopMarker } from '../../../system/processes/stop-marker';
import { ensureWorker, type WorkerChoice } from '../../../workers/process/worker-process';
import { runningWorker, type WorkerRecord } from '../../../workers/process/worker-record';
import { CommandLines, withoutPage, type CliResult } from './command-lines';
import { endDataFolder } from './end-data-folder';
import { borrowServer, returnServer } from './namespace-of-its-own';
import { startServer } from './start-server';
import { uniqueId } from './temporal';
import { until } from '../until';

const BIN = join(__dirname, '..', '..', '..', 'bin', 'holdfast.js');

interface CliOptions {
  /** The program of another build. */
  bin?: string;
  cwd?: string;
  input?: string;
  env?: NodeJS.ProcessEnv;
}

export class EngineOfItsOwn {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'holdfast-own-'));
  readonly namespace: string;
  private readonly hasServer: boolean;
  /** Those that run nothing now are at hand for the next command line. */
  private readonly lines: { all: CommandLines[]; idle: CommandLines[] } = { all: [], idle: [] };
  private connected: HoldfastClient | undefined;

  constructor({ ownServer = false } = {}) {
    this.hasServer = ownServer;
    this.namespace = ownServer ? 'default' : uniqueId('file');
    // For what the test itself starts on this server. A second engine of the file has only its own command lines.
    process.env.TEMPORAL_NAMESPACE ??= this.namespace;
    delete process.env.TEMPORAL_ADDRESS;
  }

  get client(): HoldfastClient {
    if (!this.connected) throw new Error('not started');
    return this.connected;
  }

  /** Writes the configuration for its next start. */
  configure(toml: string): void {
    writeFileSync(join(this.dataDir, 'holdfast.toml'), toml);
  }

  /** Starts server and worker, or whichever is not running; `tools` and `config` as `up` takes them. */
  async start(choice: Pick<WorkerChoice, 'tools' | 'config'> = {}): Promise<void> {
    await this.startServer();
    await this.startWorker(choice);
    await this.connect();
  }

  /** Part of `start`, for tests that start the worker themselves. */
  async connect(): Promise<void> {
    if (this.connected) return;
    const { address } = this.server();
    const { temporal, server } = await HoldfastClient.connect({ address, namespace: this.namespace }, {});
    // The tests restart what they kill: on a busy machine later than a caller elsewhere would wait.
    this.connected = new HoldfastClient(temporal, address, { ...server, keepsWorker: true });
  }

  startServer(): Promise<EngineRecord> {
    this.endStop();
    return this.hasServer
      ? startServer(this.dataDir, () => undefined)
      : borrowServer(this.dataDir, this.namespace);
  }

  /** `env` applies only if no worker runs yet. */
  startWorker({ env = {}, ...choice }: Partial<WorkerChoice> = {}): Promise<WorkerRecord> {
    this.endStop();
    const { address } = this.server();
    const crash = { HOLDFAST_CRASH_FILE: this.crashFile };
    const place = { dataDir: this.dataDir, address, namespace: this.namespace };
    return ensureWorker({ ...place, ...choice, env: { ...process.env, ...crash, ...env } });
  }

  /** Does `work`, during which the worker dies at `point`; `meanwhile`, and then the next worker starts. */
  async crashingAt<T>(
    point: CrashPoint,
    work: () => Promise<T>,
    meanwhile: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<T> {
    const doomed = runningWorker(this.dataDir);
    if (!doomed) throw new Error('no worker');
    writeFileSync(this.crashFile, point);
    const done = work();
    // Handled where it is awaited, after the crash.
    done.catch(() => undefined);
    await until(() => !isAlive(doomed.identity));
    await meanwhile();
    await this.startWorker();
    return done;
  }

  /** Whatever `down` said before. */
  private endStop(): void {
    rmSync(stopMarker(this.dataDir), { force: true });
  }

  private get crashFile(): string {
    return join(this.dataDir, 'crash-at');
  }

  server(): EngineRecord {
    const record = readRecord(enginePaths(this.dataDir));
    if (!record) throw new Error('no server');
    return record;
  }

  /** SIGKILL, and gone when this resolves. */
  async killWorker(): Promise<void> {
    const worker = runningWorker(this.dataDir);
    if (!worker) throw new Error('no worker');
    await kill(worker.identity);
  }

  killServer(): Promise<void> {
    if (!this.hasServer) throw new Error("the run's server is for all");
    return kill(this.server().identity);
  }

  /** The command line on this data folder, as a person runs it. */
  cli(args: string[], { bin = BIN, input, env = {}, ...options }: CliOptions = {}): Promise<CliResult> {
    return new Promise((resolve) => {
      const common = this.environment();
      const child = execFile(
        process.execPath,
        [bin, ...withoutPage(args)],
        { ...common, ...options, env: { ...common.env, ...env } },
        (_err, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
      );
      if (input !== undefined) child.stdin?.end(input);
    });
  }

  /** The same in a process that did others before: for tests of what they do and print. Two at once have one each. */
  async cliInTurn(
    args: string[],
    { cwd = process.cwd(), env = {} }: Omit<CliOptions, 'input' | 'bin'> = {},
  ): Promise<CliResult> {
    const lines = this.lines.idle.pop() ?? new CommandLines();
    if (!this.lines.all.includes(lines)) this.lines.all.push(lines);
    const result = await lines.run(args, { cwd, env: { ...this.environment().env, ...env } });
    this.lines.idle.push(lines);
    return result;
  }

  spawnCli(args: string[], stdin: 'ignore' | 'pipe' = 'ignore'): ChildProcess {
    return spawn(process.execPath, [BIN, ...args], {
      ...this.environment(),
      stdio: [stdin, 'pipe', 'pipe'],
    });
  }

  /** Ends everything; returns the processes that still name the data folder. */
  async end(): Promise<string[]> {
    await this.connected?.close();
    for (const lines of this.lines.all) lines.end();
    if (!this.hasServer) returnServer(this.dataDir);
    await endDataFolder(this.dataDir);
    const left = processesNaming(this.dataDir);
    rmSync(this.dataDir, { recursive: true, force: true });
    return left;
  }

  private environment(): { env: NodeJS.ProcessEnv; maxBuffer: number } {
    const place = { HOLDFAST_DATA: this.dataDir, TEMPORAL_NAMESPACE: this.namespace };
    return { env: { ...process.env, ...place, NO_COLOR: '1' }, maxBuffer: 64 * 1024 * 1024 };
  }
}

async function kill(identity: WorkerRecord['identity']): Promise<void> {
  process.kill(identity.pid, 'SIGKILL');
  while (isAlive(identity)) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Command lines of living processes that mention a text, or run in a folder below it. */
export function processesNaming(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    })
    .filter((line) => line.includes(text));
}
