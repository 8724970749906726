// How much scripts and turns may call.

export const DEFAULT_TOOL_CALLS = 10_000;
/** A script may call a tool that runs a script, and so on: so many of them in one another. */
export const MAX_TOOL_DEPTH = 4;
