// The agent's activities, which run on `holdfast`, as workflows see them.
import type { ModelCall, ModelReply, ToolResult } from './agent';
import type { ToolInvocation, ToolOutcome } from './tools';

export interface CloseSessionsInput {
  agent: string;
  host: string;
  sessions: number[];
  reason: string;
}

/** What runs tools, on `holdfast` and, for those of the host, on `host.<name>`. */
export interface ToolActivities {
  /** One tool call of the model, under an idempotency key that its target recognises. */
  callTool(input: ToolInvocation): Promise<ToolResult>;
  /** The same for a script, which gets the value itself. */
  invokeTool(input: ToolInvocation): Promise<ToolOutcome>;
}

export interface AgentActivities {
  /** One call to the model. Repeatable: nothing but cost happens twice. */
  callModel(input: ModelCall): Promise<ModelReply>;
  closeSessions(input: CloseSessionsInput): Promise<void>;
}
