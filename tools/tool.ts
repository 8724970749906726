// What a tool is, and how to define your own.
import type * as z from 'zod/mini';
import type { HoldfastClient } from '../client/holdfast-client';
import type { SpawnPlan } from '../contracts/schemas/agent';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import type { SessionRef } from '../contracts/ids';
import type { CommandView } from '../contracts/sessions/session';
import type { ArgumentRoles, CodeLanguage } from '../contracts/tools/call-facts';
import type { ImageFacts } from '../contracts/tools/images';
import type {
  Effects,
  JsonSchema,
  JsonValue,
  RunsOn,
  ToolCaller,
  ToolInvocation,
  ToolSettings,
} from '../contracts/tools/tools';
import type { AppliedChanges, ApplyRequest } from '../contracts/workspaces/own-workspaces';
import type { FileReach } from '../contracts/workspaces/file-reach';
import type { ToolGrant } from '../contracts/schemas/session';
import { MAX_TOOL_DEPTH } from '../contracts/tools/tool-grant';

/** The agent's own reading position in each session: `output` shows what came since the last look. */
export const AGENT_READER = 'agent';

/** The machine that a tool with `runsOn: 'host'` runs on. */
export interface ToolHost {
  /** The host's name, as in the agent's settings. */
  name: string;
  /** The folder that relative paths start from: the calling script's, otherwise that of the agent's shells. */
  cwd: string;
  /** Environment for programs: the same allow-list as for shells, never the worker's own. */
  env: Readonly<Record<string, string>>;
  /** Checks the host's access. Throws `execution_disabled` and `read_only_host`. */
  admit?: (tool: string, effects: Effects) => void;
  /**
   * The command line that runs a program in the host's sandbox, in a folder. Absent without a sandbox: then programs
   * may do everything that the host's user may.
   */
  confine?: ((cwd: string, argv: readonly string[]) => string[]) | undefined;
  /** The same for an agent, if it differs from that of others. */
  confinedFor?: ((agent: string) => Pick<ToolHost, 'confine'>) | undefined;
  /** What an agent may read and write here. Absent outside a host's worker. */
  reachOf?: ((agent: string) => FileReach) | undefined;
  /** Brings changes into an agent's workspace; `cwd` null: the host's own folder. Absent outside a host's worker. */
  workspaces?: { apply: (request: ApplyRequest) => Promise<AppliedChanges> } | undefined;
  /** Enables tool calls for scripts that only a session's terminal reaches. Absent if there are no terminals. */
  connectTools?: (ref: SessionRef, signal: AbortSignal) => Promise<void>;
}

export interface ToolContext {
  agent: string;
  settings: ToolSettings;
  /** The same across retries: a tool that cannot be repeated passes it on as an idempotency key. */
  key: string;
  /** 1 the first time; more if a worker was killed during this call, or the tool threw. */
  attempt: number;
  client: HoldfastClient;
  /** Aborts when the turn is stopped, or when the calling script has ended. */
  signal: AbortSignal;
  /** Calls that the model may still make in its turn. */
  callsLeft?: number | undefined;
  /** What the turn's sub-agents may still use of its limits. */
  budgetLeft?: ToolInvocation['budgetLeft'];
  /** When the approval that it runs with was asked for, in milliseconds since 1970. Undefined: it needed none. */
  askedAt?: number | undefined;
  /** The calling script; null for the model. */
  caller: ToolCaller | null;
  /** Null for tools that run anywhere. */
  host: ToolHost | null;
  /**
   * Records how the call left a session of the agent's own host, for the turn's page and lists: the last one counts.
   * Absent for calls of scripts.
   */
  sawSession?: ((view: CommandView) => void) | undefined;
  /**
   * Shows an image to the model, with the call's result: png, jpeg, gif or webp, recognised by its bytes. Throws
   * `image_refused` for another kind, one that is too large, and more than 20. Absent for calls of scripts.
   */
  addImage?: ((data: Uint8Array) => ImageFacts) | undefined;
}

export interface Tool<Args = unknown, Result = JsonValue> {
  /** 1 to 64 of a-z, A-Z, 0-9, "_" and "-", which every way of calling tools accepts. */
  name: string;
  /** For the model: what it does and when to use it. */
  description: string;
  /** A schema of zod 4 (`zod` or `zod/mini`); the model sees it as JSON Schema. */
  args: z.core.$ZodType<Args>;
  /** JSON Schema that describes the arguments instead of `args`, if it comes from elsewhere. */
  parameters?: JsonSchema;
  /** Schema of the result: zod 4 or JSON Schema. Default: text. */
  result?: z.core.$ZodType<Result> | { jsonSchema: JsonSchema };
  /** Its arguments may be a password: errors do not show them. */
  secret?: boolean;
  effects: Effects;
  /** Default `anywhere`. */
  runsOn?: RunsOn;
  /** The command line that it runs outside of sessions: the policy checks it like a session's command. */
  commandLine?(args: Args): string;
  /** Which arguments mean something to people who watch. */
  argumentRoles?: ArgumentRoles;
  /**
   * The language of the argument that is code: code that the model escaped twice is repaired before it runs. Default:
   * `python` or `nodejs` if the argument with the role `runtime` says so, otherwise `shell`.
   */
  codeLanguage?: CodeLanguage;
  /**
   * The session of the agent's own host that a call is for; undefined: none. The turn shows it and closes it at the
   * agent's end. Pure; `key` is the one that `run` gets.
   */
  session?(args: Args, key: string): number | undefined;
  /** Whether a call gives the terminal of its `session` to a person and lasts until they are done. Pure. */
  forPerson?(args: Args): boolean;
  /** Lasts while other things run, in sessions or sub-agents: these may change files meanwhile. */
  awaits?: true;
  /** Uses only files: if its host has a sandbox, it runs inside. For built-in tools. */
  usesFiles?: boolean;
  /** It is of use only to models that can see: others do not get it. */
  needsSight?: boolean;
  /** The turn itself runs the model's calls; `run` is for scripts. For built-in tools: a turn knows them by name. */
  inTurn?: boolean;
  /** The sub-agent that a call of an agent with `model` starts: a turn can ask its agent for it. For built-in tools. */
  plan?(args: Args, model: string): Promise<SpawnPlan>;
  /** The longest that one attempt may take, in milliseconds. Default 24 h. */
  timeoutMs?: number;
  /** A HoldfastError is shown to the model or thrown in the script. Scripts get the result unchanged. */
  run(args: Args, context: ToolContext): Promise<Result>;
  /** The result as the model reads it. Default: a text unchanged, other values as JSON. */
  text?(result: Result): string;
}

/** Defines a tool, with arguments typed by their schema. Pass it to `createWorkers` or `holdfast up --tools`. */
export const defineTool = <Args, Result extends JsonValue = JsonValue>(tool: Tool<Args, Result>): Tool =>
  tool;

/** The machine on which a tool with `runsOn: 'host'` was called. Throws `internal` for one that runs anywhere. */
export function hostOf({ host }: ToolContext): ToolHost {
  if (!host) throw new HoldfastError('internal', { reason: 'a host tool was run elsewhere' });
  return host;
}

/**
 * Refuses a call that would deadlock: a script that uses the session it runs in, or one whose script ran this one.
 * Throws `would_deadlock`.
 */
export function refuseOwnSession({ caller }: Pick<ToolContext, 'caller'>, session: number): void {
  if (caller?.within.includes(session))
    throw new HoldfastError('would_deadlock', { session, within: caller.within.join(', ') });
}

/** What scripts of a command that this call runs may call: the same as its caller. Throws `call_depth`. */
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
  /** Tools that it has left out, each with the reason. */
  faults?(): readonly string[];
  /** Calls `listener` after each change, until the returned function is called. */
  onChange(listener: () => void): () => void;
  /** Resolves when it has tried once to get the tools that it has from elsewhere. Absent: it has them at once. */
  settled?(): Promise<unknown>;
}
