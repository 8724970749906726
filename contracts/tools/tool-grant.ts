// How many calls turns and scripts may make.

/** What a command's scripts may call: a snapshot of their agent's policy, sent with the command. */
export interface ToolGrant {
  /** Names of tools; default: all. */
  allowed?: string[] | undefined;
  /** Total calls. Default 10,000. */
  calls?: number | undefined;
  /** Sessions whose scripts wait for this command, outermost first. */
  within?: number[] | undefined;
}

export const DEFAULT_TOOL_CALLS = 10_000;
/** A script may call a tool that runs a script, and so on: how deep they may nest. */
export const MAX_TOOL_DEPTH = 4;
