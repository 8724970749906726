// Starts a Node process that outlives this one, and waits until it is ready or has ended.
import { spawn, type StdioOptions } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { logSize, logTail, rotateLog } from './log/log-tail';

const LOOK_EVERY_MS = 20;

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
}

export type Started<Facts> =
  { facts: Facts; ended?: never } | { ended: string; /** Its last lines. */ tail: string; message: unknown };

/** Resolves when it works, or has ended before it did. */
export async function startDetached<Facts>(choice: Detached<Facts>): Promise<Started<Facts>> {
  const { args, cwd, env, log, stdio, readyAs } = choice;
  rotateLog(log);
  const from = logSize(log);
  const output = openSync(log, 'a', 0o600);
  const child = spawn(process.execPath, args, { detached: true, cwd, env, stdio: stdio(output) });
  closeSync(output);
  let ended: string | undefined;
  let message: unknown;
  child.once('message', (said) => (message = said));
  child.once('error', (err) => (ended = err.message));
  child.once('exit', (code, signal) => (ended = `it ended with ${code ?? signal}`));
  for (;;) {
    const facts = child.pid === undefined ? undefined : readyAs(child.pid);
    if (facts !== undefined) {
      child.removeAllListeners();
      if (child.connected) child.disconnect();
      child.unref();
      return { facts };
    }
    if (ended !== undefined) return { ended, tail: logTail(log, from), message };
    await delay(LOOK_EVERY_MS);
  }
}
