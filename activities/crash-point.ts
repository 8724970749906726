// Named points in a command's life at which a worker process can be made to crash, for tests of a kill at the worst
// moment. Does nothing unless the process has armed one.

export type CrashPoint =
  | 'activity-arrived'
  | 'command-arrived'
  | 'command-recorded'
  | 'command-journalled'
  | 'yield-due'
  | 'yield-told'
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
  | 'close-done';

let armed: string | undefined;

/** The process crashes when it reaches the named point. Only for the worker process, never an embedder's. */
export function armCrashPoint(name: string | undefined): void {
  armed = name;
}

/** Sends SIGKILL to this process if this point is armed: nothing after it runs, not even handlers. */
export function crashPoint(name: CrashPoint): void {
  if (armed === name) process.kill(process.pid, 'SIGKILL');
}
