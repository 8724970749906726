// Starts a Node process of a data folder that outlives this one, and waits until it is ready or has ended. It is recorded
// before it may begin: `holdfast down` ends it even if its starter is gone.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { logSize, logTail, rotateLog } from '../log/log-tail';
import { identitiesOf, isAlive, type Identity } from './process-identity';
import { endGroup } from './process-end';
import { readProcessRecord, writeProcessRecord } from './process-record';
import { refuseIfStopped } from './stop-marker';

const LOOK_EVERY_MS = 20;
/** Between the starting process and one that stands by. */
const STANDS_BY = 'stands by';
const BEGIN = 'begin';
/** In the environment of a process that must wait for the word that it may begin. */
const GATED = 'HOLDFAST_GATED';

export interface Detached<Facts> {
  /** Node's arguments: the program and its own. */
  args: readonly string[];
  /** Its data folder, in which it works. */
  dataDir: string;
  /** For people, at the beginning of a sentence. */
  name: string;
  /** Where it is recorded before it begins; `lastStarted` reads it. */
  record: string;
  env: NodeJS.ProcessEnv;
  /** What it prints goes to its end; a large one is moved aside first. */
  log: string;
  /** Only what it reports as errors is logged. */
  isQuiet?: boolean;
  /** What it has written about itself once it works; undefined until then. */
  readyAs: (pid: number) => Facts | undefined;
  /** For a process that replaces another: it loads beside that one, and begins after `makeRoom`. */
  replaces?: {
    makeRoom: () => Promise<void>;
    /** It is killed if it has not loaded by then. */
    loadMs: number;
  };
}

interface StartRecord {
  identity: Identity;
}

export type Started<Facts> =
  | { facts: Facts; ended?: never }
  | {
      ended: string;
      /** Its last lines. */
      tail: string;
      /** What it sent last. */
      message: unknown;
      /** False: it ended before there was room for it. */
      hasBegun: boolean;
    };

/** The child as its starter sees it. It is recorded, and begins on a signal from its starter. */
class GatedChild<Facts> {
  /** Why it is gone, or could not be started. */
  ended: string | undefined;
  /** What it sent last. */
  message: unknown;
  /** It has loaded, and waits for room. */
  standsBy = false;
  private readonly child: ChildProcess;

  constructor(private readonly choice: Detached<Facts>) {
    const { args, dataDir, env, log, isQuiet = false } = choice;
    const output = openSync(log, 'a', 0o600);
    this.child = spawn(process.execPath, args, {
      detached: true,
      ...{ cwd: dataDir, env: { ...env, [GATED]: '1' } },
      stdio: ['ignore', isQuiet ? 'ignore' : output, output, 'ipc'],
    });
    closeSync(output);
    this.child.on('message', (said) => {
      if (said === STANDS_BY) this.standsBy = true;
      else this.message = said;
    });
    // The first says why it could not be started; what is sent to it then fails, too.
    this.child.on('error', (err) => (this.ended ??= err.message));
    this.child.once('exit', (code, signal) => (this.ended ??= `it ended with ${code ?? signal}`));
  }

  /** Kills it if it cannot be recorded, or `holdfast down` keeps it from starting; throws what that threw. */
  record(): void {
    const { record, dataDir, name } = this.choice;
    const { pid } = this.child;
    try {
      const [identity] = pid === undefined ? [] : identitiesOf([pid]);
      if (identity) writeProcessRecord(record, { identity } satisfies StartRecord);
      refuseIfStopped(dataDir, name);
    } catch (err) {
      this.kill();
      throw err;
    }
  }

  begin(): void {
    // It may have ended meanwhile.
    if (this.child.pid !== undefined && this.child.connected) this.child.send(BEGIN, () => undefined);
  }

  /** What it has written about itself once it works. */
  facts(): Facts | undefined {
    return this.child.pid === undefined ? undefined : this.choice.readyAs(this.child.pid);
  }

  /** From now on it does not keep its starter. */
  release(): void {
    this.child.removeAllListeners();
    if (this.child.connected) this.child.disconnect();
    this.child.unref();
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}

/**
 * Resolves when it works, or has ended before it did; it has to call `waitForTurn`. Throws `engine_stopped` if
 * `holdfast down` is what keeps it from starting, and what writing its record throws.
 */
export async function startDetached<Facts>(choice: Detached<Facts>): Promise<Started<Facts>> {
  const { dataDir, name, log, replaces } = choice;
  rotateLog(log);
  const from = logSize(log);
  const child = new GatedChild(choice);
  child.record();
  let hasBegun = replaces === undefined;
  if (hasBegun) child.begin();
  const loadUntil = performance.now() + (replaces?.loadMs ?? 0);
  for (;;) {
    const facts = child.facts();
    if (facts !== undefined) {
      child.release();
      return { facts };
    }
    const { ended, message } = child;
    if (ended !== undefined) {
      refuseIfStopped(dataDir, name);
      return { ended, tail: logTail(log, from), message, hasBegun };
    }
    if (replaces && child.standsBy && !hasBegun) {
      hasBegun = true;
      await replaces.makeRoom().catch((err: unknown) => {
        child.kill();
        throw err;
      });
      child.begin();
    } else if (!hasBegun && performance.now() > loadUntil) {
      child.ended = `it has not loaded after ${replaces?.loadMs} ms`;
      child.kill();
    }
    await delay(LOOK_EVERY_MS);
  }
}

/** The process that was last started with this record, if it exists; it may not be ready. */
export function lastStarted(record: string): Identity | undefined {
  const identity = readProcessRecord<StartRecord>(record)?.identity;
  return identity && isAlive(identity) ? identity : undefined;
}

/** Kills the process that was last started with this record, unless it is the one that is ready; false if there is none. */
export async function killUnready(record: string, ready: () => Identity | undefined): Promise<boolean> {
  const started = lastStarted(record);
  // Asked afterwards: it may have become ready in between.
  if (started === undefined || started.pid === ready()?.pid) return false;
  await endGroup(started, 0);
  return true;
}

/**
 * Ends the process that was last started with this record, even while it starts; one that is ready has time for it. False
 * if none ran.
 */
export async function stopDetached(
  record: string,
  ready: () => Identity | undefined,
  graceMs: number,
): Promise<boolean> {
  const wasStarting = await killUnready(record, ready);
  const running = ready();
  if (running) await endGroup(running, graceMs);
  return wasStarting || running !== undefined;
}

/**
 * In a process that `startDetached` has started: waits until it is recorded. One that replaces another loads first, and
 * then waits for room. Exits when its starter is gone before that.
 */
export async function waitForTurn(load?: () => Promise<void>): Promise<void> {
  const isGated = process.env[GATED] !== undefined;
  delete process.env[GATED];
  if (!isGated && !load) return;
  const leave = (): void => process.exit(1);
  process.once('disconnect', leave);
  if (!process.connected) leave();
  const turn = once(process, 'message');
  if (load) {
    await load();
    process.send?.(STANDS_BY);
  }
  await turn;
  process.off('disconnect', leave);
}
