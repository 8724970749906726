// What a tool is.
import type * as z from 'zod/mini';
import type { HoldfastClient } from '../client/holdfast-client';
import type { AgentSettings } from '../contracts/agent';

/** The agent's own reading position in each session: `output` shows what came since the last look. */
export const AGENT_READER = 'agent';

export interface ToolContext {
  agent: string;
  settings: AgentSettings;
  /** The same over retries: a tool that cannot be repeated passes it on. */
  key: string;
  client: HoldfastClient;
  signal: AbortSignal;
}

export interface Tool<Args = unknown> {
  name: string;
  /** For the model: what it does and when to use it. */
  description: string;
  args: z.ZodMiniType<Args>;
  /** Its arguments may be a password: errors do not show them. */
  secret?: boolean;
  /** Whether a second run under the same key repeats an effect. */
  effects: 'read_only' | 'idempotent' | 'once';
  /** The text for the model. A HoldfastError becomes a result that the model can mend. */
  run(args: Args, context: ToolContext): Promise<string>;
}
