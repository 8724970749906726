// The list of an MCP server's tools. One tool that is not as MCP defines it is left out, not all of them.
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod/mini';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { parseWith } from '../../contracts/schemas/parse';
import type { McpServerSettings } from './mcp-settings';

export type { ListedTool };

/** A page holds a few dozen tools; this stops a server whose list never ends. */
const MAX_PAGES = 200;

export interface ListedTools {
  /** The tools that the settings enable. */
  tools: readonly ListedTool[];
  /** Why others of them were left out. */
  faults: readonly string[];
}

/** Throws the SDK's errors, and `invalid_input` if the answer is not a list. */
export async function listTools(
  client: Client,
  settings: McpServerSettings,
  request: { signal?: AbortSignal; timeout: number },
): Promise<ListedTools> {
  if (!client.getServerCapabilities()?.tools) return { tools: [], faults: [] };
  const { PaginatedResultSchema, ToolSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const tools: ListedTool[] = [];
  const faults: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    // Not `client.listTools`, which rejects the whole list if it cannot compile one schema.
    const result = await client.request({ method: 'tools/list', params }, PaginatedResultSchema, request);
    const listed = parseWith(z.array(z.unknown()), 'its list of tools', result.tools);
    for (const given of listed.filter((tool) => isEnabled(tool, settings)))
      try {
        const what = `The tool ${nameOf(given) ?? 'without a name'} of the MCP server ${settings.name}`;
        tools.push(parseWith(ToolSchema, `${what}, which is left out,`, given));
      } catch (err) {
        if (!(err instanceof HoldfastError)) throw err;
        faults.push(err.detail);
      }
    cursor = result.nextCursor;
    if (cursor === undefined) return { tools, faults };
  }
  throw new Error(`its list of tools does not end: got ${MAX_PAGES} pages`);
}

function nameOf(tool: unknown): string | undefined {
  const name = (tool as { name?: unknown } | null)?.name;
  return typeof name === 'string' ? name : undefined;
}

/** One without a name counts as enabled: its fault is reported. */
function isEnabled(tool: unknown, { enabledTools, disabledTools }: McpServerSettings): boolean {
  const name = nameOf(tool);
  if (name === undefined) return true;
  return (enabledTools?.includes(name) ?? true) && !disabledTools.includes(name);
}
