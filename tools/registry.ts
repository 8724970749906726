// The one registry of tools: what models may call. A built-in tool is one file and one line here.
import * as z from 'zod/mini';
import type { ToolCall, ToolResult } from '../contracts/agent';
import { HoldfastError } from '../contracts/errors';
import { parseWith } from '../contracts/schemas/parse';
import { codeExecutionTool } from './code-execution-tool';
import { inputTool } from './input-tool';
import type { Tool, ToolContext } from './tool';
import { waitTool } from './wait-tool';

const BUILT_IN = [codeExecutionTool, inputTool, waitTool] as const;
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
    const content = await tool.run(
      parseWith(tool.args, `The arguments of ${name}`, args, tool.secret),
      context,
    );
    return { callId, tool: name, content, isError: false };
  } catch (err) {
    if (!(err instanceof HoldfastError)) throw err;
    return { callId, tool: name, content: `Error ${err.code}: ${err.message}`, isError: true };
  }
}
