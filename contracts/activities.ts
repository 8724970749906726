// The agent's activities, which run on `holdfast`, as workflows see them.
import type { Compaction, ModelCall, ModelReply, ToolResult, TranscriptPage } from './agent';
import type { ToolInvocation, ToolOutcome } from './tools';

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
  /** Folder that relative paths count from; default: the host's. */
  cwd: string | undefined;
  paths: string[];
}

export interface ReadTranscriptInput {
  agent: string;
  runId: string;
  from: number;
  /** Behind the last message that is wanted. */
  to: number;
}

export interface ReadBlobInput {
  /** Of the whole value. */
  sha256: string;
  /** Offset in bytes. */
  from: number;
}

/** What runs tools, on `holdfast` and, for those of the host, on `host.<name>`. */
export interface ToolActivities {
  /** One tool call of the model, under an idempotency key that its target recognises. */
  callTool(input: ToolInvocation): Promise<ToolResult>;
  /** The same for a script, which gets the value itself. */
  invokeTool(input: ToolInvocation): Promise<ToolOutcome>;
  /** The text of files for the model, as one message; null where none of them is there. */
  readContext(input: ReadContextInput): Promise<string | null>;
  /** Some bytes of a value that lies there, as base64. Throws `not_found`. */
  readBlob(input: ReadBlobInput): Promise<string>;
}

export interface AgentActivities {
  /** One call to the model. Repeatable: nothing but cost happens twice. */
  callModel(input: ModelCall): Promise<ModelReply>;
  /** What the conversation so far comes to, in place of it. Repeatable as `callModel`. */
  compact(input: ModelCall): Promise<Compaction>;
  /** A page of another agent's messages. */
  readTranscript(input: ReadTranscriptInput): Promise<TranscriptPage>;
  openSessions(input: OpenSessionsInput): Promise<void>;
  closeSessions(input: CloseSessionsInput): Promise<void>;
  /** Ends the trees of all sessions; each goes on with a fresh shell. */
  resetSessions(input: ResetSessionsInput): Promise<void>;
}
