// How many calls turns and scripts may make.

export const DEFAULT_TOOL_CALLS = 10_000;
/** A script may call a tool that runs a script, and so on: how deep they may nest. */
export const MAX_TOOL_DEPTH = 4;
