// What a tool is, and how one's own is defined.
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
  /** 1 the first time; more when a worker was killed at this call, or the tool threw. */
  attempt: number;
  client: HoldfastClient;
  /** Aborts when the turn is stopped. */
  signal: AbortSignal;
}

export interface Tool<Args = unknown> {
  /** 1 to 64 of a-z, A-Z, 0-9, "_" and "-": what every way of calling tools takes. */
  name: string;
  /** For the model: what it does and when to use it. */
  description: string;
  /** A schema of zod 4 (`zod` or `zod/mini`); the model sees it as JSON Schema. */
  args: z.core.$ZodType<Args>;
  /** Its arguments may be a password: errors do not show them. */
  secret?: boolean;
  /**
   * Whether a second run under the same key repeats an effect. `once` is never run a second time: where it is not
   * known whether it had its effect, the model is told so. The others are run again.
   */
  effects: 'read_only' | 'idempotent' | 'once';
  /** The text for the model. A HoldfastError becomes a result that the model can mend. */
  run(args: Args, context: ToolContext): Promise<string>;
}

/** A tool of one's own, its arguments typed by their schema. Give it to `createWorkers` or `holdfast up --tools`. */
export const defineTool = <Args>(tool: Tool<Args>): Tool => tool;
