// The agent's activities, which run on `holdfast`, as workflows see them.
import type { ModelCall, ModelReply, ToolInvocation, ToolResult } from './agent';

export interface CloseSessionsInput {
  agent: string;
  host: string;
  sessions: number[];
  reason: string;
}

export interface AgentActivities {
  /** One call to the model. Repeatable: nothing but cost happens twice. */
  callModel(input: ModelCall): Promise<ModelReply>;
  /** One tool call, under an idempotency key that its target recognises. */
  callTool(input: ToolInvocation): Promise<ToolResult>;
  closeSessions(input: CloseSessionsInput): Promise<void>;
}
