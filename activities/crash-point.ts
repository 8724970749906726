// Named points in a command's life at which a worker process can be told to die, for tests of what a kill at the
// worst moment does. Does nothing unless the process has armed one.

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

/** The process ends when it comes to the point of this name. For the worker process alone, never an embedder's. */
export function armCrashPoint(name: string | undefined): void {
  armed = name;
}

/** SIGKILL to this very process where this point is armed: nothing after it runs, no handler either. */
export function crashPoint(name: CrashPoint): void {
  if (armed === name) process.kill(process.pid, 'SIGKILL');
}
