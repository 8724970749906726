// One connection to an MCP server, from its handshake to its end. The SDK is loaded with the first connection, so that
// workers without MCP servers do not pay for it.
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import type { HttpServer, McpServerSettings } from './mcp-settings';
import { GroupStdioTransport } from './stdio-transport';

export type { CallToolResult, ListedTool };

/** A page holds a few dozen tools; this stops a server whose list never ends. */
const MAX_PAGES = 200;
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const PING_MS = 5_000;

export interface ConnectionOptions {
  /** Holdfast's version, for the server. */
  version: string;
  /** Called with all tools after the handshake and after each change. */
  onTools: (tools: readonly ListedTool[]) => void;
  onProcess: (pid: number) => () => void;
  /** Called with messages for the log. */
  warn: (reason: string) => void;
  signal: AbortSignal;
}

export interface McpConnection {
  readonly isOpen: boolean;
  callTool(
    name: string,
    args: Record<string, unknown>,
    options: { signal: AbortSignal; timeoutMs: number },
  ): Promise<CallToolResult>;
  /** Why it ended. */
  ended: Promise<string>;
  /** Resolves when the server's processes are gone. */
  close(): Promise<void>;
}

/** Throws the transport's or the server's error; nothing is left running then. */
export async function openConnection(
  settings: McpServerSettings,
  options: ConnectionOptions,
): Promise<McpConnection> {
  const { client, transport } = await prepare(settings, options);
  let isOpen = true;
  const ended = new Promise<string>((resolve) => {
    client.onclose = () => {
      isOpen = false;
      resolve(endingOf(transport) || 'the connection was closed');
    };
  });
  const close = async (): Promise<void> => {
    await client.close();
    // The client does not close a transport that never spoke.
    await transport.close();
  };
  // Ended by the caller, or by us if the start takes too long.
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(settings.startupMs)]);
  const timeout = settings.startupMs;
  try {
    await lasting(signal, async (inner) => {
      await client.connect(transport, { signal: inner, timeout });
      await watchTools(client, { signal: inner, timeout }, options);
    });
  } catch (err) {
    await close().catch(() => undefined);
    throw new Error(endingOf(transport) || startFault(err, signal, settings), { cause: err });
  }
  if (settings.transport.kind === 'http') endWhenUnanswered(client, options);
  const { CallToolResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  return {
    get isOpen() {
      return isOpen;
    },
    callTool: (name, args, { signal: stop, timeoutMs }) =>
      lasting(stop, (inner) =>
        client.request({ method: 'tools/call', params: { name, arguments: args } }, CallToolResultSchema, {
          signal: inner,
          timeout: timeoutMs,
          // Requests progress reports from the server: each report restarts the wait.
          onprogress: () => undefined,
          resetTimeoutOnProgress: true,
        }),
      ),
    ended,
    close,
  };
}

/**
 * Forwards a signal while the work lasts. The SDK listens forever: a later abort would make it cancel calls at the
 * server that were answered long ago.
 */
async function lasting<T>(outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  outer.throwIfAborted();
  const inner = new AbortController();
  const abort = (): void => inner.abort(outer.reason);
  outer.addEventListener('abort', abort);
  try {
    return await work(inner.signal);
  } finally {
    outer.removeEventListener('abort', abort);
  }
}

const endingOf = (transport: Transport): string =>
  transport instanceof GroupStdioTransport ? transport.ending : '';

const startFault = (err: unknown, signal: AbortSignal, { startupMs }: McpServerSettings): string =>
  signal.aborted && (signal.reason as Error | undefined)?.name === 'TimeoutError'
    ? `it was not ready within ${startupMs} ms`
    : explained(err);

/** Includes the cause: `fetch failed` alone says nothing. */
export function explained(err: unknown): string {
  const cause = err instanceof Error ? err.cause : undefined;
  if (!(cause instanceof Error)) return reasonOf(err);
  const code = (cause as NodeJS.ErrnoException).code;
  return `${reasonOf(err)} (${cause.message || code || cause.name})`;
}

async function prepare(
  { transport }: McpServerSettings,
  { version, onProcess, warn }: ConnectionOptions,
): Promise<{ client: Client; transport: Transport }> {
  const { Client: SdkClient } = await import('@modelcontextprotocol/sdk/client/index.js');
  const client = new SdkClient({ name: 'holdfast', version });
  client.onerror = (err) => warn(explained(err));
  if (transport.kind === 'http') return { client, transport: await httpTransport(transport) };
  const { ReadBuffer, serializeMessage } = await import('@modelcontextprotocol/sdk/shared/stdio.js');
  const buffer = new ReadBuffer({ maxBufferSize: MAX_MESSAGE_BYTES });
  return { client, transport: new GroupStdioTransport(transport, buffer, serializeMessage, onProcess) };
}

async function httpTransport({ url, headers }: HttpServer): Promise<Transport> {
  const { StreamableHTTPClientTransport } =
    await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 10_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 1_000,
    },
  });
  // Its declaration differs only in whether `undefined` may be explicit.
  return transport;
}

/** Lists the tools now and after each change, one listing at a time. */
async function watchTools(
  client: Client,
  request: { signal: AbortSignal; timeout: number },
  { onTools, warn }: ConnectionOptions,
): Promise<void> {
  const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
  let listing: Promise<void> = Promise.resolve();
  let isQueued = false;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    if (isQueued) return;
    isQueued = true;
    listing = listing
      .then(async () => {
        isQueued = false;
        onTools(await listTools(client, { timeout: request.timeout }));
      })
      .catch((err: unknown) => warn(`its tools could not be listed again: ${reasonOf(err)}`));
  });
  onTools(await listTools(client, request));
}

async function listTools(
  client: Client,
  request: { signal?: AbortSignal; timeout: number },
): Promise<ListedTool[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const { ListToolsResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const tools: ListedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    // Not `client.listTools`, which rejects the whole list if it cannot compile one schema.
    const result = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, request);
    tools.push(...result.tools);
    cursor = result.nextCursor;
    if (cursor === undefined) return tools;
  }
  throw new Error(`its list of tools does not end: got ${MAX_PAGES} pages`);
}

/**
 * If a server no longer answers, the SDK keeps trying without telling its callers. So after each fault we ping, and
 * end the connection with its calls if there is no answer.
 */
function endWhenUnanswered(client: Client, { warn }: ConnectionOptions): void {
  let isAsking = false;
  client.onerror = (err) => {
    warn(explained(err));
    if (isAsking) return;
    isAsking = true;
    client
      .ping({ timeout: PING_MS })
      .catch(() => client.close())
      .finally(() => (isAsking = false));
  };
}
