// What crosses process borders when a tool is called, by a model or by a script. Plain JSON, no I/O.
import type { ToolHold } from './approvals';
import type { AgentSettings, ToolCall, TurnLimits } from './agent';
import type { JsonSchema, JsonValue } from './json';

export type { JsonSchema, JsonValue } from './json';

/**
 * Whether a second run under the same key repeats an effect. `once` is never run a second time: where it is not
 * known whether it had its effect, the caller is told so. The others are run again.
 */
export type Effects = 'read_only' | 'idempotent' | 'once';
export const EFFECTS = ['read_only', 'idempotent', 'once'] as const satisfies readonly Effects[];

/** `host`: on the machine of the agent's shells. `anywhere`: beside the agents, also where the shells are far away. */
export type RunsOn = 'host' | 'anywhere';

/** A tool as models, stubs and people are told of it. */
export interface ToolDescription {
  name: string;
  description: string;
  /** Schema of an object, one property for each argument. */
  parameters: JsonSchema;
  /** Schema of the result; null: a text. */
  result: JsonSchema | null;
  effects: Effects;
  runsOn: RunsOn;
}

/** A file by which scripts call tools. */
export interface StubFile {
  /** Below the folder of the stubs. */
  path: string;
  content: string;
  executable?: boolean;
}

/** What a tool needs of its agent's settings; a session without an agent has no model. */
export type ToolSettings = Pick<AgentSettings, 'host' | 'cwd' | 'yield' | 'tools' | 'remoteHost'>;

/** A value above the size that history takes: where it lies. */
export interface BlobRef {
  /** Of the content, in hexadecimal. */
  sha256: string;
  bytes: number;
  /** Task queue of the worker that has it; absent in calls of 0.2.0, which were for one machine. */
  at?: string | undefined;
}

/** An error of a tool, as scripts catch it. `code` is one of the catalogue. */
export interface ToolError {
  code: string;
  message: string;
  retryable: boolean;
}

/** How a call ended. */
export type ToolOutcome =
  { ok: true; value: JsonValue } | { ok: true; blob: BlobRef } | { ok: false; error: ToolError };

/** The script that calls, where it is not the model. */
export interface ToolCaller {
  session: number;
  commandId: string;
  /** Working folder of the script. */
  cwd: string;
  /** Sessions that wait for this call: its own, and those whose scripts ran the command it is in. */
  within: number[];
  /** Calls that the command's scripts may still make, this one not counted. */
  callsLeft: number;
  /** Tools that they may call; absent: all. */
  allowed?: string[] | undefined;
}

/** Input of the activities that run a tool, on the agents' task queue or on a host's. */
export interface ToolInvocation {
  agent: string;
  /** Idempotency key: the same over retries and worker deaths. */
  key: string;
  call: ToolCall;
  /** Arguments that are too large for history, in place of those of the call. */
  blob?: BlobRef | undefined;
  settings: ToolSettings;
  /** Calls that the model may still make in its turn; absent for scripts. */
  callsLeft?: number | undefined;
  /** What sub-agents of a turn with such limits may still take. */
  budgetLeft?: Partial<Pick<TurnLimits, 'tokens' | 'costUsd'>> | undefined;
  /** Another call refers to the result. */
  wantsValue?: boolean | undefined;
  /** Absent for calls of the model. */
  caller?: ToolCaller | undefined;
}

/** A script's call, as the host worker sends it to the session. */
export interface ToolCallRequest {
  /** The same id again gets the recorded outcome and runs nothing. */
  id: string;
  commandId: string;
  tool: string;
  args: Record<string, unknown>;
  blob?: BlobRef | undefined;
  cwd: string;
  effects: Effects;
  runsOn: RunsOn;
  /** Most time that the tool may take, in milliseconds. */
  timeoutMs: number;
  /** Arguments that are not to be shown. */
  secret?: boolean | undefined;
  /** The policy has somebody asked about it first. */
  hold?: ToolHold | undefined;
  /** Earlier calls whose outcome their scripts have: they need not be remembered any more. */
  answered?: string[] | undefined;
}

/** `pending`: it takes longer; the update `toolResults` tells of its end. */
export type ToolCallAnswer = { pending: true } | { pending: false; outcome: ToolOutcome };

export interface ToolResultsRequest {
  ids: string[];
  answered?: string[] | undefined;
}

/** Outcomes of those that have ended, at least one unless the wait was long; `unknown` ids belong to no call. */
export interface ToolResults {
  outcomes: Record<string, ToolOutcome>;
  unknown: string[];
}

/** The signal that says that nobody waits for calls any more. */
export interface CancelToolsRequest {
  ids: string[];
  reason: string;
}
