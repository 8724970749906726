// Named points in the life of a command or a checkpoint at which a worker process can be made to crash, for tests of a
// kill at the worst moment. Does nothing unless the process was started with a file that names one.
import { existsSync, readFileSync, rmSync } from 'node:fs';

export type CrashPoint =
  | 'activity-arrived'
  | 'command-arrived'
  | 'command-recorded'
  | 'command-journalled'
  | 'yield-due'
  | 'yield-told'
  | 'wait-told'
  | 'end-due'
  | 'end-told'
  | 'call-arrived'
  | 'call-recorded'
  | 'call-answered'
  | 'input-arrived'
  | 'input-typed'
  | 'reset-arrived'
  | 'reset-done'
  | 'close-arrived'
  | 'close-done'
  | 'model-answered'
  | 'model-counted'
  | 'checkpoint-read'
  | 'checkpoint-stored'
  | 'rewind-journalled'
  | 'rewind-half'
  | 'rewind-applied'
  | 'rewind-recorded';

let armedBy: string | undefined;

/** The process crashes at the point that this file names, once. Only for the worker process, never an embedder's. */
export function armCrashPoint(file: string | undefined): void {
  armedBy = file;
}

/** Sends SIGKILL to this process if this point is armed: nothing after it runs, not even handlers. */
export function crashPoint(name: CrashPoint): void {
  if (armedBy === undefined || !existsSync(armedBy) || readFileSync(armedBy, 'utf8') !== name) return;
  rmSync(armedBy);
  process.kill(process.pid, 'SIGKILL');
}
