// Adapts a tool of an MCP server to one of ours.
import * as z from 'zod/mini';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { Effects, JsonValue } from '../../contracts/tools/tools';
import type { Tool, ToolContext } from '../tool';
import { toolFailed } from './call-failure';
import { contentText, structuredValue, wholeText } from './content';
import { withoutSecrets, type McpServerSettings } from './mcp-settings';
import { jsonText } from './reader/fields';
import type { CallResult } from './reader/read-result';
import type { ListedTool } from './reader/read-tool';
import { mcpToolName } from './tool-name';

type Args = Record<string, unknown>;

/** The server checks the arguments itself, against a schema of any draft. */
const anyArgs = z.record(z.string(), z.unknown());

/** Sends a call to the server; throws only typed errors and the abort reason. */
export type CallServer = (
  call: { tool: string; args: Args; effects: Effects },
  context: ToolContext,
) => Promise<CallResult>;

export function asTool(settings: McpServerSettings, listed: ListedTool, callServer: CallServer): Tool<Args> {
  const { name: server } = settings;
  const { name: tool, title, description, inputSchema, outputSchema, annotations } = listed;
  const effects = effectsOf(annotations);
  /** What a model reads of an object: beside it, its text. */
  const texts = new WeakMap<object, string>();
  return {
    name: mcpToolName(server, tool),
    description: description?.trim() || title || annotations.title || `${tool} of the MCP server ${server}`,
    args: anyArgs,
    parameters: inputSchema,
    ...(outputSchema && { result: { jsonSchema: outputSchema } }),
    effects,
    async run(args, context): Promise<JsonValue> {
      const result = await callServer({ tool, args, effects }, context);
      if (result.isError) throw toolFailed(settings, tool, wholeText(result) || 'it gave no reason');
      if (!outputSchema) return wholeText(result, context.addImage);
      const value = structuredValue(result);
      if (value === undefined) throw withoutShape(settings, tool, contentText(result.parts));
      if (typeof value === 'object' && value !== null) texts.set(value, wholeText(result, context.addImage));
      return value;
    },
    text(value) {
      if (typeof value === 'string') return value;
      const text = typeof value === 'object' && value !== null ? texts.get(value) : undefined;
      return text ?? jsonText(value);
    },
  };
}

/** The tool has done its work, and would do it again. */
const withoutShape = (settings: McpServerSettings, tool: string, text: string): HoldfastError =>
  new HoldfastError('mcp_result_invalid', {
    server: settings.name,
    tool,
    text: withoutSecrets(settings, text) || 'nothing',
  });

/** From the server's hints: without a hint, a call must not be repeated. */
function effectsOf({ readOnlyHint, idempotentHint }: ListedTool['annotations']): Effects {
  if (readOnlyHint) return 'read_only';
  return idempotentHint ? 'idempotent' : 'once';
}
