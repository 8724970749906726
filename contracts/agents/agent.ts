// Data about agents and turns that crosses process boundaries. Plain JSON, no I/O.
import type { ErrorCode, ErrorFacts } from '../errors/holdfast-error';
import { DEFAULT_TOOL_CALLS } from '../tools/tool-grant';
import type { JsonValue } from '../json';
import type { WithExtras } from '../models/reply-extras';
import type { CheckpointOutcome } from '../workspaces/checkpoints';
import type { LeftWorkspace } from '../workspaces/own-workspaces';
import type { Rewind } from '../workspaces/rewinds';
import type { ToolHold } from '../tools/approvals';
import type { CallFacts } from '../tools/call-facts';
import type { ImageRef } from '../tools/images';
import type { MessagesOfRun } from './messages-of-run';
import type { OpenQuestion } from './questions';
import type { SessionState } from '../sessions/session';
import type { SessionFacts } from '../sessions/session-facts';
import type { Wait } from './waits';
import type { AgentSettings } from '../schemas/agent';

export interface TurnLimits {
  /** Model calls in one turn. Default 100. */
  steps: number;
  /** Wall time of one turn in milliseconds. Default 24 h. */
  wallMs: number;
  /** Replies in a row of which nothing can be used (malformed, only unknown tools) before the turn ends. Default 3. */
  formatRepairs: number;
  /** Tool calls of the turn itself; the same limit applies to the scripts of each command. Default 10,000. */
  toolCalls: number;
  /** Tokens of one turn, in and out, including its sub-agents'. Default: no limit. */
  tokens: number;
  /** US dollars of one turn, including its sub-agents', for models with known prices. Default: no limit. */
  costUsd: number;
  /** Sub-agents below the agent in total, including theirs. Default 16. */
  agents: number;
  /** How many levels of sub-agents are allowed; 0: it may start none. Default 3. */
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

/** The usage of one model call, or of several together. */
export interface Usage {
  /** Tokens that were read, including those from the provider's cache. */
  inputTokens: number;
  outputTokens: number;
  /** Part of `inputTokens`. */
  cachedTokens: number;
  /** US dollars; null if a price is not known. */
  costUsd: number | null;
  /** Where `costUsd` is null: the dollars of those calls whose price is known, if there are any. */
  pricedUsd?: number | undefined;
}

/**
 * Why a turn ended. `size_limit`: its messages fill what a turn may record; the next message continues.
 * `interrupted`: by another message, or by a request to end it. `recovered`: its sessions were reset; the next message
 * continues.
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

/** An error from the catalogue, as data. */
export interface TurnError {
  code: ErrorCode;
  message: string;
  facts: ErrorFacts;
  /** Its page. */
  docs: string;
}

/** Result of the workflow `agent` in mode `task`, and answer to the update `send`. */
export interface AgentResult {
  answer: string | null;
  reason: EndReason;
  error: TurnError | null;
  steps: number;
  /** The answer as JSON, if `outputSchema` asked for it. */
  output?: JsonValue;
  /** Absent if the model reports none. */
  usage?: Usage;
  /** What it changed in a workspace of its own, for the agent that it worked for. */
  workspace?: LeftWorkspace;
}

export interface ToolCall {
  callId: string;
  tool: string;
  args: Record<string, unknown>;
  /** Where it runs, according to the registry when called. Absent: beside the agents; `turn`: in the turn. */
  runsOn?: 'host' | 'turn';
  /** Call ids of the same reply that its arguments refer to; absent: its arguments are taken as they are. */
  needs?: string[];
  /** What was repaired in it before it ran; the model learns it. */
  repaired?: string;
  /** The policy requires an approval first. */
  hold?: ToolHold;
  /** Why the policy refuses it. */
  denied?: string;
  /** What its tool declares about it; absent until that is looked up. */
  facts?: CallFacts;
}

export interface ToolResult {
  callId: string;
  tool: string;
  /** What the model reads. */
  content: string;
  /** True if the model can fix what went wrong. */
  isError: boolean;
  /** The result itself, if another call refers to it. */
  value?: JsonValue;
  /** How it left the session of the agent's own host that it used, if its tool says so. */
  session?: SessionFacts;
  images?: ImageRef[];
}

/** A model's reply, as parsed by a dialect. */
export type ParsedReply =
  | { kind: 'answer'; answer: string; output?: JsonValue }
  | { kind: 'calls'; calls: ToolCall[]; headline: string | null; thoughts: string[]; prose: string }
  | { kind: 'malformed'; problem: string };

/** One message of a conversation, recorded once. */
export type Message =
  | { role: 'user'; text: string }
  /** Files that stay in the model's view for the whole conversation. */
  | { role: 'context'; text: string }
  /**
   * `text`: the reply as written, only if it could not be parsed; otherwise it would be in history twice. `step`: its
   * number in the conversation, from 1.
   */
  | ({ role: 'assistant'; text?: string; parsed: ParsedReply; usage?: Usage; step?: number } & WithExtras)
  | ({ role: 'tool' } & ToolResult)
  | { role: 'repair'; text: string }
  /** Replaces the conversation's first `covers` messages in what the model sees from here on. */
  | { role: 'summary'; text: string; covers: number }
  /** What the workspace's files were after a step, or, with `before`, as it began. The model does not see it. */
  | { role: 'checkpoint'; turn: number; step: number; before?: true; outcome: CheckpointOutcome }
  /** A step of its own: it brought back the files or the conversation of an earlier one. */
  | ({ role: 'rewind' } & Rewind);

/** What a model sees of a conversation. */
export type VisibleMessage = Exclude<Message, { role: 'checkpoint' | 'rewind' }>;

export interface TurnInput {
  agent: string;
  /** First run of this incarnation of the agent: an id that is reused later must not find the old commands. */
  born: string;
  turn: number;
  message: string;
  settings: AgentSettings;
  /** The messages of earlier turns that the model sees, in the run of the agent that holds them. */
  earlier: Omit<MessagesOfRun, 'workflowId'>;
  /** The conversation's steps before this turn. */
  stepsBefore: number;
}

export interface TurnResult extends AgentResult {
  messages: Message[];
  /** Sessions of the agent's host that the turn's tool calls used. */
  sessions: number[];
  /** Tool calls that it made, without those that it ran itself: these open no session. Absent if the turn was lost. */
  calls?: number | undefined;
  /** The step in which it was cut off, if what that did to files has no checkpoint yet. */
  cutStep?: number | undefined;
}

/** A sub-agent, as its parent sees it. */
export interface SubAgent {
  agentId: string;
  role: string;
  status: 'running' | 'ended';
  /** When that status began; ISO 8601. */
  since: string;
  /** Whether its usage is part of its parent's: a turn has waited for it. */
  isCounted: boolean;
  /** It was to work in a folder of its own. */
  workspace?: 'own' | undefined;
  result: AgentResult | null;
}

/** The answer to the query `state` of an `agent`. */
export interface AgentState {
  agent: string;
  mode: 'task' | 'conversation';
  status: 'idle' | 'working' | 'stopping' | 'ended';
  model: string;
  host: string;
  turns: number;
  /** Workflow id of the running turn. */
  currentTurn: string | null;
  queued: number;
  lastResult: AgentResult | null;
  sessions: number[];
  /** Sub-agents, oldest first; their answers are shortened. */
  agents: SubAgent[];
  /** Total of all turns and the sub-agents that were waited for; null if the model reports none. */
  usage: Usage | null;
  /** The answering run, and the number of messages in its query `transcript`. */
  runId: string;
  messages: number;
  /** How many of these the run before gave it, and that run. */
  carried: number;
  continuedFrom: string | null;
  settings: AgentSettings;
  refused: string[];
  /** Pending approvals in its turn and its sessions. */
  approvals: OpenQuestion[];
  /** When its status began; ISO 8601. */
  since: string;
  /** `turn`: the turn knows what it waits for. Null if it ends or has ended. */
  waits: Wait | null;
  /** The sessions that its turns used, and the workflow of each, which knows what it is doing. */
  shells: Shell[];
}

/** A session of an agent. */
export interface Shell {
  host: string;
  session: number;
  workflowId: string;
}

/** A session of an agent, and what it is doing. */
export interface ShellState extends Shell {
  /** Null, like the next two, if it does not answer. */
  status: SessionState['status'] | null;
  command: SessionState['command'];
  /** Its first pending approval, or the program that waits for input. */
  waits: Wait | null;
  /** Offset up to which its workflow knows the output; the log itself may have grown since. Null if it does not answer. */
  logEnd: number | null;
}

/** What an agent, its running turn and its sessions say together. */
export interface AgentOverview extends AgentState {
  /** The most specific wait: of a session, of the turn, otherwise of the agent. */
  waits: Wait | null;
  /** The running turn; null if there is none, or if it does not answer. */
  turn: TurnState | null;
  /** Its open sessions. */
  shells: ShellState[];
}

/** A session, as a turn knows it from its tools' answers. */
export interface SeenShell extends Shell {
  /** The step of the last call. */
  calledAt: number;
  /** The step whose tool reported `fact`; null before the first answer. */
  seenAt: number | null;
  /** For example `waiting for input`. */
  fact: string | null;
}

/** The answer to the query `state` of a `turn`. */
export interface TurnState {
  agent: string;
  turn: number;
  model: string;
  step: number;
  maxSteps: number;
  /** What the step is doing, in words, and since when (ISO 8601). */
  doing: string;
  since: string;
  /** The model's title of the step. */
  headline: string | null;
  /** `model`, `tools`, or what somebody else has to give. Null if it has ended. */
  waits: Wait | null;
  /** The sessions that its calls used; each session's workflow knows the present. */
  sessions: SeenShell[];
  /** Pending approvals of the turn and of its agent's sessions. */
  approvals: OpenQuestion[];
  usage: Usage | null;
  /** Messages so far; the query `transcript` returns them. */
  messages: number;
}

/**
 * The answer to the query `transcript`: a page of messages. It may hold fewer than requested, but at least one if
 * there are any: pages are also limited in bytes.
 */
export interface TranscriptPage {
  messages: Message[];
  /** Total number of messages. */
  total: number;
}

export interface TakenRequest {
  /** The id of a message. */
  id: string;
}

export interface TakenAnswer {
  /** `contentHash` of contracts/message-content.ts; null if nothing was taken under the id, or it is forgotten. */
  hash: string | null;
}

export interface TranscriptRequest {
  from?: number | undefined;
  /** Most messages to return; default 100. */
  limit?: number | undefined;
}
