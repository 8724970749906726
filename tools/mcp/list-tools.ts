// The list of an MCP server's tools. One tool that could not be called is left out, not all of them.
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { isDeepStrictEqual } from 'node:util';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { jsonBytes } from '../../contracts/payload-size';
import type { McpServerSettings } from './mcp-settings';
import { jsonText, listOf, textOf, type Fields } from './reader/fields';
import { readTool, type ListedTool } from './reader/read-tool';
import { beginningOf } from '../../contracts/text/well-formed';

/** A page holds a few dozen tools; this stops a server whose list never ends. */
const MAX_PAGES = 200;

/** Of all tools of a server, as JSON: each model call of an agent carries them. */
const MAX_BYTES = 1_048_576;
const MAX_TOOL_BYTES = 262_144;
/** JSON is written by functions that call themselves. */
const MAX_DEPTH = 64;
const SHOWN_CHARS = 200;
/** For the tools of a server that does not say whether it has any. */
const UNASKED_MS = 5_000;

export interface ListedTools {
  /** The tools that the settings enable. */
  tools: readonly ListedTool[];
  /** Why others of them were left out. */
  faults: readonly string[];
}

/** Throws the SDK's errors, and what a list is that is none. */
export async function listTools(
  client: Client,
  settings: McpServerSettings,
  request: { signal?: AbortSignal; timeout: number },
): Promise<ListedTools> {
  const { ResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const isAnnounced = client.getServerCapabilities()?.tools !== undefined;
  const patience = {
    ...request,
    timeout: isAnnounced ? request.timeout : Math.min(request.timeout, UNASKED_MS),
  };
  const list = new ToolList(settings);
  let cursor: string | undefined;
  const seen = new Set<string>();
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    let result: Fields;
    try {
      // Not `client.listTools`, which rejects the whole list if it cannot compile one schema.
      result = await client.request({ method: 'tools/list', params }, ResultSchema, patience);
    } catch (err) {
      if (isAnnounced || request.signal?.aborted) throw err;
      return list;
    }
    list.add(result.tools);
    cursor = textOf(result.nextCursor);
    // Some servers end their list with an empty one.
    if (cursor === undefined || cursor === '') return list;
    if (seen.has(cursor))
      return list.endedEarly(`its page ${jsonText(cursor)} names itself as the next one, or one before`);
    seen.add(cursor);
  }
  return list.endedEarly(`it does not end: got ${MAX_PAGES} pages`);
}

class ToolList implements ListedTools {
  readonly tools: ListedTool[] = [];
  readonly faults: string[] = [];
  private leftBytes = MAX_BYTES;

  constructor(private readonly settings: McpServerSettings) {}

  /** Throws for what is no list. */
  add(page: unknown): void {
    const { settings } = this;
    const listed = listOf(page);
    if (!listed)
      throw new Error(`its list of tools is none: got ${beginningOf(jsonText(page), SHOWN_CHARS)}`);
    for (const given of listed.filter((tool) => isEnabled(tool, settings))) {
      const what = `The tool ${nameOf(given) ?? 'without a name'} of the MCP server ${settings.name}`;
      try {
        const bytes = sizeOf(given, this.leftBytes);
        const tool = readTool(given);
        // A page that comes twice.
        if (this.tools.some((known) => isDeepStrictEqual(known, tool))) continue;
        this.tools.push(tool);
        this.leftBytes -= bytes;
      } catch (err) {
        this.faults.push(`${what} is left out: ${reasonOf(err)}`);
      }
    }
  }

  endedEarly(reason: string): this {
    this.faults.push(`The list of tools of the MCP server ${this.settings.name} was ended: ${reason}.`);
    return this;
  }
}

/** In bytes. Throws for a tool that could not be passed on to a model. */
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
