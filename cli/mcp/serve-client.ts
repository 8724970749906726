// Sessions and agents as an MCP server: one client, over one transport.
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod/mini';
import type { JsonSchema } from '../../contracts/json';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { parseWith } from '../../contracts/schemas/parse';
import { packageVersion } from '../../system/package-root';
import type { CliContext } from '../open-context';
import { knownError } from '../../system/known-error';
import { AGENT_OPERATIONS } from './agent-operations';
import { describeArguments } from './describe-arguments';
import type { Operation } from './operation';
import { SESSION_OPERATIONS } from './session-operations';

const OPERATIONS = [...SESSION_OPERATIONS, ...AGENT_OPERATIONS];
const PROGRESS_EVERY_MS = 2_000;

/** The server, not connected yet. `open` returns the context for a call; it runs for each call. */
export async function mcpServer(open: () => Promise<CliContext>): Promise<Server> {
  // Loaded here, so that other commands do not wait for it.
  const { Server: SdkServer } = await import('@modelcontextprotocol/sdk/server/index.js');
  const { CallToolRequestSchema, ListToolsRequestSchema } =
    await import('@modelcontextprotocol/sdk/types.js');
  const server = new SdkServer(
    { name: 'holdfast', version: packageVersion() },
    {
      capabilities: { tools: {} },
      instructions:
        'Persistent terminal sessions and agents. Programs keep running when a call is cancelled or this client ' +
        'goes away; "list" finds them again.',
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: OPERATIONS.map(described) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { _meta: meta, sendNotification }) => {
    const report = (progress: number): Promise<void> =>
      sendNotification({
        method: 'notifications/progress',
        params: { progressToken: meta?.progressToken ?? 0, progress, message: `${progress} s` },
      });
    const stop = meta?.progressToken === undefined ? (): void => undefined : reporting(report);
    try {
      return await call(params.name, params.arguments ?? {}, open);
    } finally {
      stop();
    }
  });
  return server;
}

function described({ name, description, args, isReadOnly }: Operation): {
  name: string;
  description: string;
  inputSchema: { type: 'object' };
  annotations: object;
} {
  const schema = z.toJSONSchema(args, { unrepresentable: 'any', io: 'input' }) as JsonSchema;
  const inputSchema = { ...describeArguments(schema, [name]), type: 'object' as const };
  return {
    name,
    description,
    inputSchema,
    annotations: { readOnlyHint: isReadOnly, openWorldHint: !isReadOnly },
  };
}

/** Reports the elapsed time every few seconds: clients count their timeouts from the last report. */
function reporting(report: (seconds: number) => Promise<void>): () => void {
  const began = Date.now();
  const timer = setInterval(() => {
    // A client that has gone away hears nothing.
    report(Math.round((Date.now() - began) / 1_000)).catch(() => undefined);
  }, PROGRESS_EVERY_MS);
  return () => clearInterval(timer);
}

/** An error's texts for a client that has these tools: the catalogue names the command line and an agent's own tools. */
function forClient(known: HoldfastError): { text: string; error: object } {
  const next = known.next
    .replaceAll('runtime "output"', 'the tool "output"')
    .replaceAll('runtime "reset"', 'the tool "reset"')
    .replaceAll('"input"', 'the tool "input"')
    .replaceAll('Run `holdfast ps --all`', 'Call the tool "list" with "ended"')
    .replaceAll('Run `holdfast ps`', 'Call the tool "list"');
  const message = `${known.detail} Next: ${next}`;
  return { text: `${known.code}: ${message}`, error: { ...known.toJSON(), message, next } };
}

async function call(name: string, given: object, open: () => Promise<CliContext>): Promise<CallToolResult> {
  try {
    const found = OPERATIONS.find((one) => one.name === name);
    if (!found) {
      const allowed = OPERATIONS.map((one) => one.name).join(', ');
      throw new HoldfastError('unknown_tool', { got: name, allowed });
    }
    const args = parseWith(found.args, `The input of ${name}`, given, found.secret);
    const { text, structured } = await found.run(args, await open());
    return { content: [{ type: 'text', text }], structuredContent: structured };
  } catch (err) {
    const { text, error } = forClient(knownError(err));
    return { isError: true, content: [{ type: 'text', text }], structuredContent: { error } };
  }
}
