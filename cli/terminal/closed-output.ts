// What happens when the reader of stdout has gone, as after `| head`.

/** Like a program that SIGPIPE ends: the reader has read enough. A command in a session keeps running. */
const PIPE_CLOSED = 128 + 13;

let leave = (): void => process.exit(PIPE_CLOSED);

export const outputClosed = (): void => leave();

/** For a command that has something to end first: resolves with the exit code, in place of an exit. */
export const closedOutput = (): Promise<number> =>
  new Promise((resolve) => (leave = () => resolve(PIPE_CLOSED)));
