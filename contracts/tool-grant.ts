// How much turns and scripts may call.

/** What a command's scripts may call: a snapshot of their agent's policy, which comes with the command. */
export interface ToolGrant {
  /** Names of tools; default: all. */
  allowed?: string[] | undefined;
  /** Calls in all. Default 10,000. */
  calls?: number | undefined;
  /** Sessions whose scripts wait for this command, the outermost first. */
  within?: number[] | undefined;
}

export const DEFAULT_TOOL_CALLS = 10_000;
/** A script may call a tool that runs a script, and so on: so many of them in one another. */
export const MAX_TOOL_DEPTH = 4;
