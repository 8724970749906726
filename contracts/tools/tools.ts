// Data that crosses process boundaries when a model or a script calls a tool. Plain JSON, no I/O.
import type { ToolHold } from './approvals';
import type { AgentSettings } from '../schemas/agent';
import type { ToolCall, TurnLimits } from '../agents/agent';
import type { JsonSchema, JsonValue } from '../json';
import type { BlobRef } from './blob-ref';

export type { JsonSchema, JsonValue } from '../json';
export type { BlobRef } from './blob-ref';

/**
 * Whether a second run with the same key repeats an effect. `once` is never run a second time: if it is unknown
 * whether it took effect, the caller learns that. The others are run again.
 */
export type Effects = 'read_only' | 'idempotent' | 'once';
export const EFFECTS = ['read_only', 'idempotent', 'once'] as const satisfies readonly Effects[];

/** `host`: on the machine of the agent's shells. `anywhere`: beside the agents, even if the shells are far away. */
export type RunsOn = 'host' | 'anywhere';

/** What every way of calling tools accepts as a name. */
export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** A tool as described to models, stubs and people. */
export interface ToolDescription {
  name: string;
  description: string;
  /** Schema of an object, one property for each argument. */
  parameters: JsonSchema;
  /** Schema of the result; null: plain text. */
  result: JsonSchema | null;
  effects: Effects;
  runsOn: RunsOn;
}

/** A file through which scripts call tools. */
export interface StubFile {
  /** Relative to the stubs folder. */
  path: string;
  content: string;
  executable?: boolean;
}

/** The agent settings that a tool needs; a session without an agent has no model. */
export type ToolSettings = Pick<AgentSettings, 'host' | 'cwd' | 'yield' | 'tools' | 'remoteHost'>;

/** A tool's error, as scripts catch it. `code` is from the catalogue. */
export interface ToolError {
  code: string;
  message: string;
  retryable: boolean;
}

/** How a call ended. */
export type ToolOutcome = { ok: true; value: JsonValue } | { ok: true; blob: BlobRef } | FailedOutcome;

export interface FailedOutcome {
  ok: false;
  error: ToolError;
}

/** The answer to a call that the policy of its tool's worker holds until it is approved: the tool was not run. */
export interface HeldCall {
  held: ToolHold;
}

/** The calling script, if the caller is not the model. */
export interface ToolCaller {
  session: number;
  commandId: string;
  /** Working folder of the script. */
  cwd: string;
  /** Sessions that wait for this call: its own, and those whose scripts ran its command. */
  within: number[];
  /** Calls that the command's scripts may still make, not counting this one. */
  callsLeft: number;
  /** Tools that the scripts may call; absent: all. */
  allowed?: string[] | undefined;
}

/** Input of the activities that run a tool, on the agents' task queue or on a host's. */
export interface ToolInvocation {
  agent: string;
  /** Idempotency key: the same across retries and worker deaths. */
  key: string;
  call: ToolCall;
  /** Arguments that are too large for history; they replace the call's arguments. */
  blob?: BlobRef | undefined;
  settings: ToolSettings;
  /** Calls that the model may still make in its turn; absent for scripts. */
  callsLeft?: number | undefined;
  /** What the turn's sub-agents may still use of its limits. */
  budgetLeft?: Partial<Pick<TurnLimits, 'tokens' | 'costUsd'>> | undefined;
  /** Another call refers to the result. */
  wantsValue?: boolean | undefined;
  /** The caller understands `HeldCall`; without this, a call that is not approved is denied. */
  mayHold?: boolean | undefined;
  /** Absent for calls of the model. */
  caller?: ToolCaller | undefined;
}

/** A script's call, as the host worker sends it to the session. */
export interface ToolCallRequest {
  /** Repeating the same id returns the recorded outcome and runs nothing. */
  id: string;
  commandId: string;
  tool: string;
  args: Record<string, unknown>;
  blob?: BlobRef | undefined;
  cwd: string;
  effects: Effects;
  runsOn: RunsOn;
  /** The longest that the tool may take, in milliseconds. */
  timeoutMs: number;
  /** The arguments must not be shown. */
  secret?: boolean | undefined;
  /** The policy requires an approval first. */
  hold?: ToolHold | undefined;
  /** Earlier calls whose scripts have their outcome: they can be forgotten. */
  answered?: string[] | undefined;
}

/** `pending`: it takes longer; the update `toolResults` reports its end. */
export type ToolCallAnswer = { pending: true } | { pending: false; outcome: ToolOutcome };

export interface ToolResultsRequest {
  ids: string[];
  answered?: string[] | undefined;
}

/** Outcomes of calls that have ended: at least one, unless the wait was long. `unknown` ids belong to no call. */
export interface ToolResults {
  outcomes: Record<string, ToolOutcome>;
  unknown: string[];
}

/** The signal that these calls are not waited for any longer. */
export interface CancelToolsRequest {
  ids: string[];
  reason: string;
}
