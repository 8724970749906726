// What crosses process borders about agents and turns. Plain JSON, no I/O.
import type { ErrorCode, ErrorFacts } from './errors';
import type { YieldSettings } from './session';
import { DEFAULT_TOOL_CALLS } from './tool-grant';
import type { JsonSchema, JsonValue } from './json';
import type { ToolHold } from './approvals';
import type { OpenQuestion } from './questions';

export interface TurnLimits {
  /** Model calls in one turn. Default 100. */
  steps: number;
  /** Wall time of one turn in milliseconds. Default 24 h. */
  wallMs: number;
  /** Replies in a row that may be malformed before the turn ends. Default 3. */
  formatRepairs: number;
  /** Tool calls of the turn itself, and again of the scripts of each command. Default 10,000. */
  toolCalls: number;
  /** Tokens of one turn, in and out, its sub-agents' included. Default: no limit. */
  tokens: number;
  /** US dollars of one turn, its sub-agents' included, for models whose prices are known. Default: no limit. */
  costUsd: number;
  /** Sub-agents below the agent in all, theirs included. Default 16. */
  agents: number;
  /** How deep sub-agents may have sub-agents; 0: it may start none. Default 3. */
  depth: number;
}

export const DEFAULT_LIMITS: TurnLimits = {
  steps: 100,
  wallMs: 24 * 3_600_000,
  formatRepairs: 3,
  toolCalls: DEFAULT_TOOL_CALLS,
  tokens: Number.MAX_SAFE_INTEGER,
  costUsd: Number.MAX_SAFE_INTEGER,
  agents: 16,
  depth: 3,
};

/** How a model's reply says "call these tools". */
export const DIALECTS = ['agent-json', 'tagged', 'native'] as const;
export type DialectName = (typeof DIALECTS)[number];

/** What a model call took, or several together. */
export interface Usage {
  /** Tokens that were read, those from the provider's cache included. */
  inputTokens: number;
  outputTokens: number;
  /** Of `inputTokens`. */
  cachedTokens: number;
  /** US dollars; null where a price is not known. */
  costUsd: number | null;
}

/** Settings that an agent hands to each of its turns. */
export interface AgentSettings {
  /** `provider:name`, for example `scripted:replies.yaml`. */
  model: string;
  /** Default: the model's own, which is `agent-json` for scripted ones. */
  dialect?: DialectName;
  /** What the model is told of itself before anything else. */
  instructions?: string;
  /** Files of the host that the model reads before the first message, such as AGENTS.md; those that are missing are left out. */
  context?: string[];
  /** JSON Schema that the answer, a JSON text, must match. */
  outputSchema?: JsonSchema;
  /** Which host runs the shells. Default `local`. */
  host?: string;
  /** Working folder of the shells. Default: the host's. */
  cwd?: string;
  /** Host that `code_execution_remote` runs code on. Default: the only one that is online. */
  remoteHost?: string;
  /** Names of the tools that it and its scripts may call. Default: all. */
  tools?: string[];
  limits?: Partial<TurnLimits>;
  yield?: Partial<YieldSettings>;
}

/** Input of the workflow `agent`: one plain JSON object. */
export interface AgentInput extends AgentSettings {
  /** The first message. */
  task?: string;
  /** `task` answers, closes its sessions and ends; `conversation` goes on until `stop` or its idle limit. */
  mode?: 'task' | 'conversation';
  /** Sessions of its host to be opened at once, so that the first command in each waits for no shell. */
  openSessions?: number[];
  /** Leaves the sessions open when the agent ends. */
  keep?: boolean;
  /** Ends a conversation after so long without a message, in milliseconds. Default 24 h. */
  idleMs?: number;
  /** Begins with another conversation's first `count` messages, as that run of it holds them. */
  from?: { agent: string; runId: string; count: number };
}

/**
 * Why a turn ended. `size_limit`: its messages are as many bytes as a turn may record; the next message goes on.
 * `interrupted`: by another message, or by who asked for its end. `recovered`: its sessions were reset, the next message goes on.
 */
export type EndReason =
  | 'answered'
  | 'step_limit'
  | 'time_limit'
  | 'size_limit'
  | 'token_limit'
  | 'cost_limit'
  | 'format_error'
  | 'model_error'
  | 'interrupted'
  | 'recovered'
  | 'stopped';

/** An error of the catalogue, as data. */
export interface TurnError {
  code: ErrorCode;
  message: string;
  facts: ErrorFacts;
}

/** Result of the workflow `agent` in mode `task`, and answer of the update `send`. */
export interface AgentResult {
  answer: string | null;
  reason: EndReason;
  error: TurnError | null;
  steps: number;
  /** The answer as JSON, where `outputSchema` asked for it. */
  output?: JsonValue;
  /** Absent where the model reports none. */
  usage?: Usage;
}

export interface ToolCall {
  callId: string;
  tool: string;
  args: Record<string, unknown>;
  /** Where it is run, as the registry said when the model called; absent: beside the agents; `turn`: by the turn. */
  runsOn?: 'host' | 'turn';
  /** Call ids of the same reply that its arguments refer to; absent: its arguments are taken as they are. */
  needs?: string[];
  /** What was mended in it before it ran; the model is told. */
  repaired?: string;
  /** The policy has somebody asked about it first. */
  hold?: ToolHold;
  /** Why the policy refuses it. */
  denied?: string;
}

export interface ToolResult {
  callId: string;
  tool: string;
  /** What the model reads. */
  content: string;
  /** True when the model can mend what went wrong. */
  isError: boolean;
  /** The result itself, where another call refers to it. */
  value?: JsonValue;
}

/** What a dialect makes of a model's reply. */
export type ParsedReply =
  | { kind: 'answer'; answer: string; output?: JsonValue }
  | { kind: 'calls'; calls: ToolCall[]; headline: string | null; thoughts: string[]; prose: string }
  | { kind: 'malformed'; problem: string };

/** One message of a conversation, recorded once. */
export type Message =
  | { role: 'user'; text: string }
  /** Files that the model has in view as long as the conversation lasts. */
  | { role: 'context'; text: string }
  /** `text`: as the model wrote it, where nothing could be made of it; else it would be in history twice. */
  | { role: 'assistant'; text?: string; parsed: ParsedReply; usage?: Usage }
  | ({ role: 'tool' } & ToolResult)
  | { role: 'repair'; text: string }
  /** In place of the conversation's first `covers` messages, in what the model sees from here on. */
  | { role: 'summary'; text: string; covers: number };

export interface TurnInput {
  agent: string;
  /** First run of this life of the agent: an id that is used again later must not find the old commands. */
  born: string;
  turn: number;
  message: string;
  settings: AgentSettings;
  /** How many messages of earlier turns the model is to see, and which run of the agent holds them. */
  earlier: { count: number; runId: string };
}

/** What a turn takes along when it continues as new. */
export interface TurnRecord {
  messages: Message[];
  steps: number;
  calls: number;
  /** Malformed replies in a row. */
  repairs: number;
  sessions: number[];
  usage: Usage | null;
  /** The conversation is to be summed up before the next step. */
  isFullForModel: boolean;
  /** Of its first run; milliseconds since 1970. */
  startedAt: number;
  /** Rules that were approved for as long as it lasts. */
  cleared?: string[];
}

export interface TurnResult extends AgentResult {
  messages: Message[];
  /** Sessions of the agent's host that the turn's tools were called with. */
  sessions: number[];
}

/** Input of the activity `callModel`: the messages themselves are pulled by query, pinned to these counts. */
export interface ModelCall {
  agent: string;
  model: string;
  dialect?: DialectName | undefined;
  instructions?: string | undefined;
  outputSchema?: JsonSchema | undefined;
  /** Names of the tools that it is told of; absent: all. */
  tools?: string[] | undefined;
  /** Where its tools run: what somebody is asked about is bound to it. */
  host?: string | undefined;
  cwd?: string | undefined;
  turn: { workflowId: string; runId: string; count: number };
  earlier: { count: number; runId: string };
}

/** What stands in for messages that the model is to see no more. */
export interface Compaction {
  text: string;
  usage?: Usage;
}

export interface ModelReply {
  /** Of a malformed reply: as the model wrote it. */
  text?: string;
  parsed: ParsedReply;
  usage?: Usage;
  /** Tokens that the model reads at the most, where that is known. */
  window?: number;
}

/** One more message to an agent. */
export interface SendRequest {
  /** The same id again with the same message gets the recorded answer. Default: the update's id. */
  id?: string | undefined;
  message: string;
  /**
   * While a turn is at work: `queue` (the default) lets it end first. `interrupt` cancels its model call, lets its
   * tools finish, and comes next.
   */
  mode?: 'queue' | 'interrupt' | undefined;
}

export interface RecoverRequest {
  /** The same id again resets nothing a second time. Default: the update's id. */
  id?: string | undefined;
  reason?: string | undefined;
}

/** A sub-agent, as its parent knows it. */
export interface SubAgent {
  agentId: string;
  role: string;
  status: 'running' | 'ended';
  /** In that status; ISO 8601. */
  since: string;
  result: AgentResult | null;
}

/** The answer of the query `state` of an `agent`. */
export interface AgentState {
  agent: string;
  mode: 'task' | 'conversation';
  status: 'idle' | 'working' | 'stopping' | 'ended';
  model: string;
  host: string;
  turns: number;
  /** Workflow id of the turn at work. */
  currentTurn: string | null;
  queued: number;
  lastResult: AgentResult | null;
  sessions: number[];
  /** Sub-agents, the first one first; their answers are shortened. */
  agents: SubAgent[];
  /** Of all turns and the sub-agents that were waited for; null where the model reports none. */
  usage: Usage | null;
  /** The run that answers, and the messages that its query `transcript` holds. */
  runId: string;
  messages: number;
  settings: AgentSettings;
  refused: string[];
  /** What waits for a yes or no in its turn and its sessions; absent in answers of releases before 0.3. */
  approvals?: OpenQuestion[];
}

/**
 * The answer of the query `transcript`: a page of messages. It may hold fewer than were asked for, at least one
 * where there is one: pages end by bytes, too.
 */
export interface TranscriptPage {
  messages: Message[];
  /** Messages in all. */
  total: number;
}

export interface TranscriptRequest {
  from?: number;
  /** At most so many messages; default 100. */
  limit?: number;
}
