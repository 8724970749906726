// Starts a Node process of a data folder that outlives this one, and waits until it is ready or has ended. It is recorded
// before it may begin: `holdfast down` ends it even if its starter is gone.
import { spawn } from 'node:child_process';
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
  /** Of Node: the program and its arguments. */
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

/**
 * Resolves when it works, or has ended before it did; it has to call `waitForTurn`. Throws `engine_stopped` if
 * `holdfast down` is what keeps it from starting, and what writing its record throws.
 */
export async function startDetached<Facts>(choice: Detached<Facts>): Promise<Started<Facts>> {
  const { args, dataDir, name, env, log, isQuiet = false, readyAs, replaces } = choice;
  rotateLog(log);
  const from = logSize(log);
  const output = openSync(log, 'a', 0o600);
  const child = spawn(process.execPath, args, {
    detached: true,
    ...{ cwd: dataDir, env: { ...env, [GATED]: '1' } },
    stdio: ['ignore', isQuiet ? 'ignore' : output, output, 'ipc'],
  });
  closeSync(output);
  let ended: string | undefined;
  let message: unknown;
  let standsBy = false;
  child.on('message', (said) => {
    if (said === STANDS_BY) standsBy = true;
    else message = said;
  });
  // The first says why it could not be started; what is sent to it then fails, too.
  child.on('error', (err) => (ended ??= err.message));
  child.once('exit', (code, signal) => (ended ??= `it ended with ${code ?? signal}`));
  // It may have ended meanwhile.
  const begin = (): unknown =>
    child.pid !== undefined && child.connected && child.send(BEGIN, () => undefined);
  let hasBegun = replaces === undefined;
  try {
    const [identity] = child.pid === undefined ? [] : identitiesOf([child.pid]);
    if (identity) writeProcessRecord(choice.record, { identity } satisfies StartRecord);
    refuseIfStopped(dataDir, name);
  } catch (err) {
    child.kill('SIGKILL');
    throw err;
  }
  if (hasBegun) begin();
  const loadUntil = performance.now() + (replaces?.loadMs ?? 0);
  for (;;) {
    const facts = child.pid === undefined ? undefined : readyAs(child.pid);
    if (facts !== undefined) {
      child.removeAllListeners();
      if (child.connected) child.disconnect();
      child.unref();
      return { facts };
    }
    if (ended !== undefined) {
      refuseIfStopped(dataDir, name);
      return { ended, tail: logTail(log, from), message, hasBegun };
    }
    if (replaces && standsBy && !hasBegun) {
      hasBegun = true;
      await replaces.makeRoom().catch((err: unknown) => {
        child.kill('SIGKILL');
        throw err;
      });
      begin();
    } else if (!hasBegun && performance.now() > loadUntil) {
      ended = `it has not loaded after ${replaces?.loadMs} ms`;
      child.kill('SIGKILL');
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
