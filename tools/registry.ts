// The registry of tools: what models may call. A built-in tool is one file and one line here; one's own are
// handed in where the parts are composed.
import * as z from 'zod/mini';
import type { ToolCall, ToolResult } from '../contracts/agent';
import { HoldfastError, reasonOf } from '../contracts/errors';
import { parseWith } from '../contracts/schemas/parse';
import { codeExecutionTool } from './code-execution-tool';
import { inputTool } from './input-tool';
import type { Tool, ToolContext } from './tool';
import { waitTool } from './wait-tool';

const BUILT_IN: readonly Tool[] = [codeExecutionTool, inputTool, waitTool];

const NAME_PATTERN = /^[a-zA-Z0-9_-]{1,64}$/;
/** A tool that throws is run so often; then the model is told what it threw. */
const MAX_ATTEMPTS = 5;

export interface ToolRegistry {
  /** What the prompt says of the tools; `parameters` is JSON Schema. */
  describe(): { name: string; description: string; parameters: object }[];
  /**
   * Runs a call. What the model can mend, and an outcome that is unknown, is a result with `isError`. Throws what
   * is worth another attempt under the same key.
   */
  call(call: ToolCall, context: ToolContext): Promise<ToolResult>;
}

/** The built-in tools and one's own. Throws `tool_invalid` and `tool_name_taken`. */
export function createToolRegistry(own: readonly Tool[] = []): ToolRegistry {
  const tools = new Map<string, Tool>();
  for (const tool of [...BUILT_IN, ...own]) {
    checkTool(tool);
    const namesake = [...tools.keys()].find((name) => normalised(name) === normalised(tool.name));
    if (namesake !== undefined)
      throw new HoldfastError('tool_name_taken', { got: tool.name, before: namesake });
    tools.set(tool.name, tool);
  }
  return {
    describe: () =>
      [...tools.values()].map(({ name, description, args }) => ({
        name,
        description,
        // As the model is to write them: what has a default may be left out.
        parameters: z.toJSONSchema(args, { unrepresentable: 'any', io: 'input' }),
      })),
    async call({ callId, tool: name, args }, context) {
      try {
        const tool = tools.get(name);
        if (!tool)
          throw new HoldfastError('unknown_tool', { got: name, allowed: [...tools.keys()].join(', ') });
        const content = await runTool(tool, args, context);
        return { callId, tool: name, content, isError: false };
      } catch (err) {
        if (!(err instanceof HoldfastError)) throw err;
        return { callId, tool: name, content: `Error ${err.code}: ${err.message}`, isError: true };
      }
    },
  };
}

/** Models and stubs spell a name in their own way: these must not lead to another tool. */
const normalised = (name: string): string => name.toLowerCase().replaceAll('-', '_');

/** Own tools come from modules that no compiler may have seen. */
function checkTool(tool: Partial<Tool> | undefined): void {
  const allowed: Record<string, boolean> = {
    'name: 1 to 64 of a-z, A-Z, 0-9, "_" and "-"':
      typeof tool?.name === 'string' && NAME_PATTERN.test(tool.name),
    'description: a text': typeof tool?.description === 'string' && tool.description.trim() !== '',
    'args: a schema of zod 4': typeof tool?.args === 'object' && '_zod' in tool.args,
    'effects: read_only, idempotent or once': ['read_only', 'idempotent', 'once'].includes(
      tool?.effects ?? '',
    ),
    'run: a function': typeof tool?.run === 'function',
  };
  const faults = Object.keys(allowed).filter((what) => !allowed[what]);
  if (faults.length > 0)
    throw new HoldfastError('tool_invalid', { got: String(tool?.name), allowed: faults.join('; ') });
}

async function runTool(tool: Tool, args: Record<string, unknown>, context: ToolContext): Promise<string> {
  const { name, secret, effects } = tool;
  const parsed = parseWith(tool.args, `The arguments of ${name}`, args, secret);
  const unknown = (reason: string): HoldfastError =>
    new HoldfastError('unknown_outcome', { what: `the call of ${name}`, reason });
  if (effects === 'once' && context.attempt > 1)
    throw unknown('the worker was lost while it was at it, and it is not to run twice');
  try {
    return await tool.run(parsed, context);
  } catch (err) {
    if (err instanceof HoldfastError || context.signal.aborted) throw err;
    if (effects === 'once') throw unknown(reasonOf(err));
    if (context.attempt < MAX_ATTEMPTS) throw err;
    throw new HoldfastError('tool_failed', { tool: name, attempts: context.attempt, reason: reasonOf(err) });
  }
}
