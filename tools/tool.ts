// What a tool is, and how one's own is defined.
import type * as z from 'zod/mini';
import type { HoldfastClient } from '../client/holdfast-client';
import { HoldfastError } from '../contracts/errors';
import type { SessionRef } from '../contracts/ids';
import type {
  Effects,
  JsonSchema,
  JsonValue,
  RunsOn,
  ToolCaller,
  ToolInvocation,
  ToolSettings,
} from '../contracts/tools';
import { MAX_TOOL_DEPTH, type ToolGrant } from '../contracts/tool-grant';

/** The agent's own reading position in each session: `output` shows what came since the last look. */
export const AGENT_READER = 'agent';

/** The machine that a tool with `runsOn: 'host'` runs on. */
export interface ToolHost {
  /** Of the host, as in the agent's settings. */
  name: string;
  /** Folder that relative paths count from: the calling script's, else that of the agent's shells. */
  cwd: string;
  /** Environment for programs: the allow-list that shells have, never the worker's own. */
  env: Readonly<Record<string, string>>;
  /** Refuses what the host's access does not allow. Throws `execution_disabled` and `read_only_host`. */
  admit?: (tool: string, effects: Effects) => void;
  /**
   * The command line that runs a program in the sandbox of the host, in a folder. Absent where there is none: then
   * programs may do all that the host's user may.
   */
  confine?: ((cwd: string, argv: readonly string[]) => string[]) | undefined;
  /** What code in that sandbox may write and see, by real paths. Absent where there is none. */
  sandbox?: { roots: readonly string[]; shows: (path: string) => boolean } | undefined;
  /** Lets scripts call tools that only the terminal of a session reaches. Absent where there are no terminals. */
  connectTools?: (ref: SessionRef, signal: AbortSignal) => Promise<void>;
}

export interface ToolContext {
  agent: string;
  settings: ToolSettings;
  /** The same over retries: a tool that cannot be repeated passes it on. */
  key: string;
  /** 1 the first time; more when a worker was killed at this call, or the tool threw. */
  attempt: number;
  client: HoldfastClient;
  /** Aborts when the turn is stopped, or when the script that called has ended. */
  signal: AbortSignal;
  /** Calls that the model may still make in its turn. */
  callsLeft?: number | undefined;
  /** What sub-agents of a turn with such limits may still take. */
  budgetLeft?: ToolInvocation['budgetLeft'];
  /** The script that calls; null for the model. */
  caller: ToolCaller | null;
  /** Null for tools that run anywhere. */
  host: ToolHost | null;
}

export interface Tool<Args = unknown, Result = JsonValue> {
  /** 1 to 64 of a-z, A-Z, 0-9, "_" and "-": what every way of calling tools takes. */
  name: string;
  /** For the model: what it does and when to use it. */
  description: string;
  /** A schema of zod 4 (`zod` or `zod/mini`); the model sees it as JSON Schema. */
  args: z.core.$ZodType<Args>;
  /** JSON Schema that describes the arguments in place of `args`, where they come from elsewhere. */
  parameters?: JsonSchema;
  /** Schema of the result: of zod 4, or JSON Schema. Default: text. */
  result?: z.core.$ZodType<Result> | { jsonSchema: JsonSchema };
  /** Its arguments may be a password: errors do not show them. */
  secret?: boolean;
  effects: Effects;
  /** Default `anywhere`. */
  runsOn?: RunsOn;
  /** The command line that it runs outside of sessions: the policy looks at it as at a session's command. */
  commandLine?(args: Args): string;
  /** Uses files and nothing else: where its host has a sandbox, it runs in there. For our own. */
  usesFiles?: boolean;
  /** The model's calls are run by its turn itself; `run` is for scripts. For our own: a turn knows them by name. */
  inTurn?: boolean;
  /** Most time that one attempt may take, in milliseconds. Default 24 h. */
  timeoutMs?: number;
  /** A HoldfastError is told to the model or thrown in the script. Scripts get the result as it is. */
  run(args: Args, context: ToolContext): Promise<Result>;
  /** What the model reads of a result. Default: a text as it is, other values as JSON. */
  text?(result: Result): string;
}

/** A tool of one's own, its arguments typed by their schema. Give it to `createWorkers` or `holdfast up --tools`. */
export const defineTool = <Args, Result extends JsonValue = JsonValue>(tool: Tool<Args, Result>): Tool =>
  tool;

/** The machine that a tool of `runsOn: 'host'` was called on. Throws `internal` for one that runs anywhere. */
export function hostOf({ host }: ToolContext): ToolHost {
  if (!host) throw new HoldfastError('internal', { reason: 'a tool of the host was run elsewhere' });
  return host;
}

/**
 * Refuses a call that would wait for what itself waits for it: a script that uses the session it runs in, or one
 * whose script ran this one. Throws `would_deadlock`.
 */
export function refuseOwnSession({ caller }: Pick<ToolContext, 'caller'>, session: number): void {
  if (caller?.within.includes(session))
    throw new HoldfastError('would_deadlock', { session, within: caller.within.join(', ') });
}

/** What the scripts of a command may call that this call runs: what its caller may. Throws `call_depth`. */
export function grantOf({ settings, caller, callsLeft }: ToolContext): ToolGrant {
  if (!caller) return { allowed: settings.tools, calls: callsLeft };
  const { allowed, callsLeft: calls, within } = caller;
  if (within.length >= MAX_TOOL_DEPTH)
    throw new HoldfastError('call_depth', { got: within.length + 1, allowed: MAX_TOOL_DEPTH });
  return { allowed, calls, within };
}

/** Tools that come and go while the worker runs, such as those of MCP servers. */
export interface ToolSource {
  tools(): readonly Tool[];
  /** Calls `listener` after each change, until the function that it returns is called. */
  onChange(listener: () => void): () => void;
}
