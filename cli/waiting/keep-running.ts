// While a command watches, the embedded server and its worker are restarted when they die: whatever killed them, the
// work continues.
import { existsSync } from 'node:fs';
import { enginePaths, readRecord, type EngineRecord } from '../../engine/record';
import { isGuarded } from '../../engine/server';
import { isAlive } from '../../system/processes/process-identity';
import { stopMarker } from '../../system/processes/stop-marker';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { knownError } from '../../system/known-error';
import { findSilentWorker, runningWorker, workerPaths } from '../../workers/process/worker-record';
import type { GivenOptions } from '../print/next-step';
import { exitWith } from '../print/report-error';
import { noteUnless } from '../terminal/terminal-style';

const LOOK_EVERY_MS = 250;
/** Doubled after each failed attempt. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** What fails this often in a row, over seven seconds, does not pass by itself. */
const LASTING_FAILURES = 4;
/** What dies sooner after its restart would probably do so again. */
const STEADY_MS = 5_000;

export interface Restarts {
  server(): Promise<unknown>;
  worker(): Promise<unknown>;
}

export interface KeepOptions extends GivenOptions {
  json?: boolean;
  /** Requests of others are waited for: they get the error, and this process stays. */
  answersOthers?: boolean | undefined;
}

type Process = keyof Restarts;

/** Times are of `performance.now()`. */
interface Outage {
  failures: number;
  retryAt: number;
  /** When all was restarted; undefined as long as something is down. */
  restartedAt?: number | undefined;
  /** The reason that was reported last. */
  reported?: string | undefined;
  fault?: HoldfastError | undefined;
}

const NONE: Outage = { failures: 0, retryAt: 0 };

const pauseAfter = (failures: number): number =>
  Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));

export interface Keeping {
  /** For a process that answers others: why restarts fail, once several have; undefined otherwise. */
  fault: () => HoldfastError | undefined;
  stop: () => void;
}

/** With `json`, exits with the error if restarts keep failing, unless it answers others; a person is notified, and may help. */
export function keepRunning(dataDir: string, restart: Restarts, options: KeepOptions): Keeping {
  const keeper = new Keeper(dataDir, restart, options);
  return { fault: () => keeper.fault(), stop: () => keeper.stop() };
}

class Keeper {
  private readonly report: (text: string) => void;
  private readonly timer: ReturnType<typeof setInterval>;
  private isBusy = false;
  private isSilenceReported = false;
  private outage: Outage = NONE;
  private restarting: Process = 'server';
  /** When its next start may be tried. */
  private guardAt = 0;

  constructor(
    private readonly dataDir: string,
    private readonly restart: Restarts,
    private readonly options: KeepOptions,
  ) {
    this.report = noteUnless(options.json ?? false);
    this.timer = setInterval(() => {
      if (this.isBusy) return;
      this.isBusy = true;
      this.look()
        .catch((err: unknown) => this.onFailure(err))
        .finally(() => (this.isBusy = false));
    }, LOOK_EVERY_MS);
  }

  fault(): HoldfastError | undefined {
    return this.outage.fault;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    if (existsSync(stopMarker(this.dataDir))) this.exit(new HoldfastError('engine_stopped', {}));
    const server = readRecord(enginePaths(this.dataDir));
    // A server that was killed leaves its record. Without one the folder was moved or removed: what is started here would
    // have an empty database.
    if (!server) return;
    const isServed = isAlive(server.identity);
    if (isServed) await this.guardAgain(server);
    const isDown = !isServed || !runningWorker(this.dataDir);
    const { restartedAt } = this.outage;
    const isSteady = restartedAt === undefined || performance.now() - restartedAt > STEADY_MS;
    if (isDown && !isSteady) this.onEarlyEnd(isServed ? 'worker' : 'server');
    if (isDown && performance.now() < this.outage.retryAt) return;
    await this.restartMissing(isServed);
    if (isDown) this.outage = { ...this.outage, restartedAt: performance.now(), fault: undefined };
    else if (isSteady) this.outage = NONE;
    this.reportSilence();
  }

  private async restartMissing(isServed: boolean): Promise<void> {
    const isFirst = this.outage.failures === 0;
    if (!isServed) {
      if (isFirst) this.report('The Temporal server is gone; restarting it on the same database.');
      this.restarting = 'server';
      await this.restart.server();
    }
    if (!runningWorker(this.dataDir)) {
      if (isFirst) this.report('The worker is gone; starting another, which takes over its work.');
      this.restarting = 'worker';
      await this.restart.worker();
    }
  }

  private reportSilence(): void {
    const silent = findSilentWorker(this.dataDir);
    // Not ended by us: someone may have stopped it to inspect it.
    if (silent && !this.isSilenceReported) this.report(silent.message);
    this.isSilenceReported = silent !== undefined;
  }

  /** It also holds the lock against a second server. The work goes on without it. */
  private async guardAgain(server: EngineRecord): Promise<void> {
    if (isGuarded(server) || performance.now() < this.guardAt) return;
    this.guardAt = performance.now() + LONGEST_PAUSE_MS;
    this.report('The guard of the web UI is gone or stopped; starting another.');
    await this.restart
      .server()
      .catch((err: unknown) => this.report(`It could not be started: ${reasonOf(err)}`));
  }

  private onEarlyEnd(what: Process): void {
    const reason = `the ${what} ended again within ${STEADY_MS / 1_000} seconds of its start`;
    if (reason !== this.outage.reported)
      this.report(`It is restarted less and less often: ${reason}. See ${logOf(what, this.dataDir)}`);
    this.count(reason, lastingFault(what, reason, this.dataDir), true);
  }

  private onFailure(err: unknown): void {
    // This command's client still uses the old address, where something else may answer by now.
    if (err instanceof HoldfastError && err.code === 'engine_moved') this.exit(err);
    // The next look says so.
    if (err instanceof HoldfastError && err.code === 'engine_stopped') return;
    const known = knownError(err);
    const reason = reasonOf(err);
    if (reason !== this.outage.reported)
      this.report(`It could not be restarted, and is tried again: ${reason}`);
    // Whether to wait for space on a full disk is decided where the disk is watched.
    this.count(reason, toWaiting(known, this.restarting, this.dataDir), known.code !== 'storage_failed');
  }

  /** @param fault what those who wait get once several attempts in a row have failed */
  private count(reason: string, fault: HoldfastError, mayLast: boolean): void {
    const { json = false, answersOthers = false } = this.options;
    const failures = this.outage.failures + 1;
    const isLasting = failures >= LASTING_FAILURES && mayLast;
    if (isLasting && json && !answersOthers) this.exit(fault);
    this.outage = {
      ...{ failures, retryAt: performance.now() + pauseAfter(failures), reported: reason },
      fault: isLasting && answersOthers ? fault : undefined,
    };
  }

  private exit(err: HoldfastError): never {
    return exitWith(err, this.options.json ?? false, this.options);
  }
}

/** For a request that was sent: it may still take effect, whatever is said of the start of a process. */
const toWaiting = (err: HoldfastError, what: Process, dataDir: string): HoldfastError =>
  err.effect === 'none' ? lastingFault(what, err.detail, dataDir) : err;

const lastingFault = (what: Process, reason: string, dataDir: string): HoldfastError =>
  new HoldfastError(`${what === 'server' ? 'engine' : 'worker'}_failed`, {
    reason,
    log: logOf(what, dataDir),
  });

const logOf = (what: Process, dataDir: string): string =>
  what === 'server' ? enginePaths(dataDir).logFile : workerPaths(dataDir).log;
