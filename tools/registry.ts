// The one registry of tools: what models may call. A built-in tool is one file and one line here.
import * as z from 'zod/mini';
import type { AgentSettings, ToolCall, ToolResult } from '../contracts/agent';
import { HoldfastError } from '../contracts/errors';
import { parseWith } from '../contracts/schemas/parse';
import type { HoldfastClient } from '../client/holdfast-client';
import { codeExecutionTool } from './code-execution-tool';
import { inputTool } from './input-tool';

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
  /** Whether a second run under the same key repeats an effect. */
  effects: 'read_only' | 'idempotent' | 'once';
  /** The text for the model. A HoldfastError becomes a result that the model can mend. */
  run(args: Args, context: ToolContext): Promise<string>;
}

const BUILT_IN = [codeExecutionTool, inputTool] as const;
const TOOLS = new Map<string, Tool>(BUILT_IN.map((tool) => [tool.name, tool as unknown as Tool]));

/** What the prompt says of the tools. */
export const describeTools = (): { name: string; description: string; parameters: object }[] =>
  [...TOOLS.values()].map(({ name, description, args }) => ({
    name,
    description,
    parameters: z.toJSONSchema(args, { unrepresentable: 'any' }),
  }));

/** Runs a call. What the model can mend is a result with `isError`; anything else is thrown. */
export async function callTool(
  { callId, tool: name, args }: ToolCall,
  context: ToolContext,
): Promise<ToolResult> {
  try {
    const tool = TOOLS.get(name);
    if (!tool) throw new HoldfastError('unknown_tool', { got: name, allowed: [...TOOLS.keys()].join(', ') });
    const content = await tool.run(parseWith(tool.args, `The arguments of ${name}`, args), context);
    return { callId, tool: name, content, isError: false };
  } catch (err) {
    if (!(err instanceof HoldfastError)) throw err;
    return { callId, tool: name, content: `Error ${err.code}: ${err.message}`, isError: true };
  }
}
