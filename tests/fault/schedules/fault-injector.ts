// Injects the faults of a schedule, and keeps server and worker running between them.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { HolderRecord } from '../../../exec/client/holder-client';
import { listSessions, sessionPaths, sessionsDirectory } from '../../../exec/session-paths';
import { enginePaths, readRecord } from '../../../engine/record';
import { readJson } from '../../../system/json-file';
import { isStopped } from '../../../system/processes/proc';
import { isAlive, type Identity } from '../../../system/processes/process-identity';
import { stopWorker } from '../../../workers/process/worker-process';
import { lastWorker, runningWorker } from '../../../workers/process/worker-record';
import type { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { immutableFiles, isPossible, readOnlyMount } from '../../helpers/hosts/unwritable';
import { until } from '../../helpers/until';
import type { Recorder } from './recorder';
import { FAULTS, type Fault, type FaultKind } from './schedule';

/** How long the keeper waits between two looks. */
const LOOK_MS = 50;
const wayToForbid = [readOnlyMount, immutableFiles].find(isPossible);

/** Those that this machine can have. */
export const possibleFaults: readonly FaultKind[] = FAULTS.filter(
  (kind) => kind !== 'read-only' || wayToForbid !== undefined,
);

interface Parts {
  engine: EngineOfItsOwn;
  recorder: Recorder;
  /** Processes of the MCP server. */
  servers: () => number[];
}

export class FaultInjector {
  /** The faults that met what they are meant for. */
  readonly hits = new Set<FaultKind>();
  private readonly over = new AbortController();
  /** Restarts wait for these. */
  private readonly away = new Map<'server' | 'worker', number>();
  private readonly healing: Promise<void>[] = [];
  private readonly running: Promise<unknown>[] = [];
  private isArmed = false;

  constructor(
    private readonly parts: Parts,
    private readonly faults: Fault[],
  ) {}

  start(): void {
    this.running.push(this.keep('server'), this.keep('worker'), this.inject());
  }

  /** No more faults; what they left is healed, and both processes run. */
  async end(): Promise<void> {
    this.over.abort();
    await Promise.all(this.running);
    await Promise.all(this.healing);
    this.noteCrash();
    rmSync(this.crashFile, { force: true });
    this.away.clear();
    await this.restart('server');
    await this.restart('worker');
  }

  private async inject(): Promise<void> {
    // Before the first shell there is little to disturb.
    while (listSessions(this.parts.engine.dataDir).length === 0 && !this.over.signal.aborted)
      await this.pause(LOOK_MS);
    for (const fault of this.faults) {
      await this.pause(fault.afterMs);
      while (!this.over.signal.aborted && !(await this.hasMet(fault)) && fault.isPatient)
        await this.pause(LOOK_MS);
    }
  }

  private async hasMet(fault: Fault): Promise<boolean> {
    try {
      await this.injectOne(fault);
    } catch (err) {
      // What was to be killed is not there: another fault has done that.
      this.parts.recorder.note(`${fault.kind} found nothing: ${String(err)}`);
      return false;
    }
    if (fault.kind !== 'crash-worker') this.hits.add(fault.kind);
    return true;
  }

  private async injectOne({ kind, forMs, which, point }: Fault): Promise<void> {
    const { engine, recorder } = this.parts;
    recorder.note(`FAULT ${kind}${kind === 'crash-worker' ? ` at ${point}` : ''} for ${forMs} ms`);
    switch (kind) {
      case 'kill-worker':
        this.stayAway('worker', forMs);
        return engine.killWorker();
      case 'stop-worker':
        this.stayAway('worker', forMs);
        await stopWorker(engine.dataDir);
        return;
      case 'crash-worker':
        this.noteCrash();
        this.isArmed = true;
        return writeFileSync(this.crashFile, point);
      case 'kill-server':
        this.stayAway('server', forMs);
        return engine.killServer();
      case 'kill-both':
        if (!runningWorker(engine.dataDir)) throw new Error('no worker');
        this.stayAway('server', forMs);
        this.stayAway('worker', forMs);
        await Promise.all([engine.killServer(), engine.killWorker()]);
        return;
      case 'kill-holder':
        return this.killHolder(which);
      case 'kill-mcp':
        return this.killServers();
      case 'freeze-worker':
        return this.freeze(runningWorker(engine.dataDir)?.identity, forMs);
      case 'freeze-server':
        return this.freeze(engine.server().identity, forMs);
      case 'freeze-holder':
        return this.freeze(this.holder(which), forMs);
      case 'read-only':
        return this.forbid(forMs);
    }
  }

  private async killHolder(which: number): Promise<void> {
    const holder = this.holder(which);
    process.kill(holder.pid, 'SIGKILL');
    await until(() => !isAlive(holder));
  }

  private killServers(): void {
    const servers = this.parts.servers();
    if (servers.length === 0) throw new Error('no MCP server');
    for (const pid of servers) process.kill(pid, 'SIGKILL');
  }

  /** A worker that crashes at a point removes the file that named it. */
  private noteCrash(): void {
    if (this.isArmed && !existsSync(this.crashFile)) this.hits.add('crash-worker');
    this.isArmed = false;
  }

  private holder(which: number): Identity {
    const { dataDir } = this.parts.engine;
    const living = listSessions(dataDir).flatMap((ref) => {
      const record = readJson<HolderRecord>(sessionPaths(dataDir, ref).holder);
      return record && isAlive(record.identity) ? [record.identity] : [];
    });
    const found = living[which % living.length];
    if (!found) throw new Error('no holder');
    return found;
  }

  private async freeze(identity: Identity | undefined, forMs: number): Promise<void> {
    if (!identity) throw new Error('no process');
    process.kill(identity.pid, 'SIGSTOP');
    await until(() => isStopped(identity.pid));
    this.healAfter(forMs, () => {
      if (isAlive(identity)) process.kill(identity.pid, 'SIGCONT');
    });
  }

  private forbid(forMs: number): void {
    const folder = sessionsDirectory(this.parts.engine.dataDir);
    wayToForbid?.forbid(folder);
    this.healAfter(forMs, () => wayToForbid?.allow(folder));
  }

  private healAfter(forMs: number, heal: () => void): void {
    this.healing.push(
      this.pause(forMs).then(() => {
        heal();
        this.parts.recorder.note('healed');
      }),
    );
  }

  private stayAway(what: 'server' | 'worker', forMs: number): void {
    this.away.set(what, Date.now() + forMs);
  }

  /** As an operator's supervisor does: what is dead is started again. */
  private async keep(what: 'server' | 'worker'): Promise<void> {
    while (!this.over.signal.aborted) {
      await this.restart(what).catch((err: unknown) =>
        this.parts.recorder.note(`the ${what} did not start: ${String(err)}`),
      );
      await this.pause(LOOK_MS);
    }
  }

  private async restart(what: 'server' | 'worker'): Promise<void> {
    const { engine, recorder } = this.parts;
    const record = what === 'server' ? readRecord(enginePaths(engine.dataDir)) : lastWorker(engine.dataDir);
    if (!this.mayRun(what) || (record && isAlive(record.identity))) return;
    await (what === 'server' ? engine.startServer() : engine.startWorker());
    recorder.note(`the ${what} runs again`);
  }

  private mayRun(what: 'server' | 'worker'): boolean {
    return Date.now() >= (this.away.get(what) ?? 0);
  }

  private async pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.over.signal }).catch(() => undefined);
  }

  private get crashFile(): string {
    return join(this.parts.engine.dataDir, 'crash-at');
  }
}
