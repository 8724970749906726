// The list of an MCP server's tools. One tool that is not as MCP defines it is left out, not all of them.
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod/mini';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { jsonBytes } from '../../contracts/payload-size';
import { parseWith } from '../../contracts/schemas/parse';
import type { McpServerSettings } from './mcp-settings';

export type { ListedTool };

/** A page holds a few dozen tools; this stops a server whose list never ends. */
const MAX_PAGES = 200;

/** Of all tools of a server, as JSON: each model call of an agent carries them. */
const MAX_BYTES = 1_048_576;
const MAX_TOOL_BYTES = 262_144;
/** JSON is written by functions that call themselves. */
const MAX_DEPTH = 64;

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
  let leftBytes = MAX_BYTES;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    // Not `client.listTools`, which rejects the whole list if it cannot compile one schema.
    const result = await client.request({ method: 'tools/list', params }, PaginatedResultSchema, request);
    const listed = parseWith(z.array(z.unknown()), 'its list of tools', result.tools);
    for (const given of listed.filter((tool) => isEnabled(tool, settings))) {
      const what = `The tool ${nameOf(given) ?? 'without a name'} of the MCP server ${settings.name}`;
      try {
        leftBytes -= sizeOf(given, leftBytes);
        tools.push(parseWith(ToolSchema, `${what}, which is left out,`, given));
      } catch (err) {
        faults.push(err instanceof HoldfastError ? err.detail : `${what} is left out: ${reasonOf(err)}`);
      }
    }
    cursor = result.nextCursor;
    if (cursor === undefined) return { tools, faults };
  }
  throw new Error(`its list of tools does not end: got ${MAX_PAGES} pages`);
}

/** In bytes. Throws for a tool that nobody could pass on to a model. */
function sizeOf(tool: unknown, leftBytes: number): number {
  if (isDeeper(tool, MAX_DEPTH)) throw new Error(`got one nested more than ${MAX_DEPTH} levels deep`);
  const bytes = jsonBytes(tool);
  if (bytes > MAX_TOOL_BYTES) throw new Error(`got ${bytes} bytes, allowed up to ${MAX_TOOL_BYTES}`);
  if (bytes > leftBytes) throw new Error(`its server's tools have more than ${MAX_BYTES} bytes together`);
  return bytes;
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1)));

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
