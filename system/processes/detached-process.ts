// Starts a Node process that outlives this one, and waits until it is ready or has ended.
import { spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { logSize, logTail, rotateLog } from '../log/log-tail';

const LOOK_EVERY_MS = 20;
/** Between the starting process and one that stands by. */
const STANDS_BY = 'stands by';
const BEGIN = 'begin';

export interface Detached<Facts> {
  /** Of Node: the program and its arguments. */
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** What it prints goes to its end; a large one is moved aside first. */
  log: string;
  /** Given the log's file descriptor. With `ipc`, its last message is returned if it ends. */
  stdio: (log: number) => StdioOptions;
  /** What it has written about itself once it works; undefined until then. */
  readyAs: (pid: number) => Facts | undefined;
  /** For a process that replaces another: it loads beside that one, and begins after `makeRoom`. It calls `standBy`. */
  replaces?: {
    makeRoom: () => Promise<void>;
    /** It is killed if it has not loaded by then. */
    loadMs: number;
  };
}

export type Started<Facts> =
  | { facts: Facts; ended?: never }
  | {
      ended: string;
      /** Its last lines. */
      tail: string;
      message: unknown;
      /** False: it ended before there was room for it. */
      hasBegun: boolean;
    };

/** Resolves when it works, or has ended before it did. */
export async function startDetached<Facts>(choice: Detached<Facts>): Promise<Started<Facts>> {
  const { args, cwd, env, log, stdio, readyAs, replaces } = choice;
  rotateLog(log);
  const from = logSize(log);
  const output = openSync(log, 'a', 0o600);
  const child = spawn(process.execPath, args, { detached: true, cwd, env, stdio: stdio(output) });
  closeSync(output);
  let ended: string | undefined;
  let message: unknown;
  let standsBy = false;
  child.on('message', (said) => {
    if (said === STANDS_BY) standsBy = true;
    else message = said;
  });
  child.once('error', (err) => (ended = err.message));
  child.once('exit', (code, signal) => (ended ??= `it ended with ${code ?? signal}`));
  let hasBegun = replaces === undefined;
  const loadUntil = performance.now() + (replaces?.loadMs ?? 0);
  for (;;) {
    const facts = child.pid === undefined ? undefined : readyAs(child.pid);
    if (facts !== undefined) {
      child.removeAllListeners();
      if (child.connected) child.disconnect();
      child.unref();
      return { facts };
    }
    if (ended !== undefined) return { ended, tail: logTail(log, from), message, hasBegun };
    if (replaces && standsBy && !hasBegun) {
      hasBegun = true;
      await replaces.makeRoom().catch((err: unknown) => {
        child.kill('SIGKILL');
        throw err;
      });
      // It may have ended meanwhile.
      if (child.connected) child.send(BEGIN);
    } else if (!hasBegun && performance.now() > loadUntil) {
      ended = `it has not loaded after ${replaces?.loadMs} ms`;
      child.kill('SIGKILL');
    }
    await delay(LOOK_EVERY_MS);
  }
}

/** In a process that replaces another: loads, and waits for its turn. Exits when who started it is gone before that. */
export async function standBy(load: () => Promise<void>): Promise<void> {
  const leave = (): void => process.exit(1);
  process.once('disconnect', leave);
  if (!process.connected) leave();
  const turn = once(process, 'message');
  await load();
  process.send?.(STANDS_BY);
  await turn;
  process.off('disconnect', leave);
}
