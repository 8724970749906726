// Adapts a tool of an MCP server to one of ours.
import * as z from 'zod/mini';
import type { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { Effects, JsonValue } from '../../contracts/tools/tools';
import type { Tool, ToolContext } from '../tool';
import { toolFailed } from './call-failure';
import type { CallToolResult } from './connection';
import { contentText, resultValue } from './content';
import type { ListedTool } from './list-tools';
import type { McpServerSettings } from './mcp-settings';
import { mcpToolName } from './tool-name';

type Args = Record<string, unknown>;

/** The server checks the arguments itself, against a schema of any draft. */
const anyArgs = z.record(z.string(), z.unknown());

/** Sends a call to the server; throws only typed errors and the abort reason. */
export type CallServer = (
  call: { tool: string; args: Args; effects: Effects },
  context: ToolContext,
) => Promise<CallToolResult>;

export function asTool(settings: McpServerSettings, listed: ListedTool, callServer: CallServer): Tool<Args> {
  const { name: server } = settings;
  const { name: tool, title, description, inputSchema, outputSchema, annotations } = listed;
  const effects = effectsOf(annotations);
  return {
    name: mcpToolName(server, tool),
    description: description?.trim() || title || annotations?.title || `${tool} of the MCP server ${server}`,
    args: anyArgs,
    parameters: inputSchema,
    ...(outputSchema && { result: { jsonSchema: outputSchema } }),
    effects,
    async run(args, context): Promise<JsonValue> {
      const result = await callServer({ tool, args, effects }, context);
      const failed = (reason: string): HoldfastError => toolFailed(settings, tool, reason);
      if (result.isError) throw failed(contentText(result.content) || 'it gave no reason');
      const text = contentText(result.content, context.addImage);
      const value = resultValue(result, outputSchema !== undefined, text);
      if (value === undefined)
        throw failed(`it returned no structured content, although it declares a schema: ${text}`);
      return value;
    },
  };
}

/** From the server's hints: without a hint, a call must not be repeated. */
function effectsOf(annotations: ListedTool['annotations']): Effects {
  if (annotations?.readOnlyHint) return 'read_only';
  return annotations?.idempotentHint ? 'idempotent' : 'once';
}
