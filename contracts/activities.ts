// The agent's activities, which run on `holdfast`, as workflows see them.
import type { ToolResult, TranscriptPage } from './agents/agent';
import type { Compaction, ModelCall, SummaryCall } from './models/model-call';
import type { PlannedReply } from './models/model-reply';
import type { OfferRequest, ToolsOffer } from './tools/offered-tools';
import type { HeldCall, ToolInvocation, ToolOutcome } from './tools/tools';

export interface OpenSessionsInput {
  agent: string;
  host: string;
  cwd: string | null;
  sessions: number[];
}

export interface CloseSessionsInput {
  agent: string;
  host: string;
  sessions: number[];
  reason: string;
}

export interface ResetSessionsInput {
  agent: string;
  host: string;
  sessions: number[];
  reason: string;
}

export interface ReadContextInput {
  agent: string;
  /** The folder that relative paths start from; default: the host's. */
  cwd: string | undefined;
  paths: string[];
}

export interface ReadTranscriptInput {
  agent: string;
  runId: string;
  from: number;
  /** Exclusive. */
  to: number;
}

export interface ReadBlobInput {
  /** Hash of the whole value. */
  sha256: string;
  /** Its name, if it is in the team's bucket. */
  object?: string | undefined;
  /** Offset in bytes. */
  from: number;
}

/** The activities that run tools: on `holdfast`, and for host tools on `host.<name>`. */
export interface ToolActivities {
  /** One tool call of the model, under an idempotency key that its target recognises. */
  callTool(input: ToolInvocation): Promise<ToolResult>;
  /** The same for a script, which receives the value itself. */
  invokeTool(input: ToolInvocation): Promise<ToolOutcome | HeldCall>;
  /** The text of files for the model, as one message; null if none of them exists. */
  readContext(input: ReadContextInput): Promise<string | null>;
  /** Some bytes of a value stored there, as base64. Throws `not_found`. */
  readBlob(input: ReadBlobInput): Promise<string>;
}

/** Beside the agents only. */
export interface OfferActivities {
  /** What scripts on hosts without agents may call. */
  offerTools(input: OfferRequest): Promise<ToolsOffer>;
}

export interface AgentActivities {
  /** One call to the model. Safe to repeat: only the cost is incurred twice. */
  callModel(input: ModelCall): Promise<PlannedReply>;
  /** A summary that replaces the conversation so far. Safe to repeat, like `callModel`. */
  compact(input: SummaryCall): Promise<Compaction>;
  /** Waits until models may be called: fails with `quota_reached` until then, and is tried again by Temporal. */
  awaitQuota(): Promise<void>;
  /** A page of another agent's messages. */
  readTranscript(input: ReadTranscriptInput): Promise<TranscriptPage>;
  openSessions(input: OpenSessionsInput): Promise<void>;
  closeSessions(input: CloseSessionsInput): Promise<void>;
  /** Ends the process trees of all sessions; each continues with a fresh shell. */
  resetSessions(input: ResetSessionsInput): Promise<void>;
}
