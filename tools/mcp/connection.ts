// One connection to an MCP server, from its handshake to its end. The SDK is loaded with the first connection, so that
// workers without MCP servers do not pay for it.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { isSessionGone, isSessionRefused, isThere, isTimeout } from './call-failure';
import { httpTransport } from './http-transport';
import { limitAnswers } from './limit-answers';
import { listTools, type ListedTools } from './list-tools';
import type { McpServerSettings } from './mcp-settings';
import { readResult, type CallResult } from './reader/read-result';
import { GroupStdioTransport } from './stdio-transport';

const PING_MS = 5_000;
/** Between two listings of the tools. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** For the other calls, when one learned that the session is gone: they learn it, too, and may be made again. */
const DRAIN_MS = 2_000;

export interface ConnectionOptions {
  /** Holdfast's version, for the server. */
  version: string;
  /** Called with all tools after the handshake and after each change. */
  onTools: (listed: ListedTools) => void;
  onProcess: (pid: number) => () => void;
  /** Called with messages for the log. */
  warn: (reason: string) => void;
  signal: AbortSignal;
}

export interface McpConnection {
  /** Whether it takes calls. */
  readonly isOpen: boolean;
  callTool(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<CallResult>;
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
  const [parts, { ResultSchema }] = await Promise.all([
    prepare(settings, options),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  const connection = new Connection(settings, options, { ...parts, answer: ResultSchema });
  await connection.start();
  return connection;
}

interface Parts {
  client: Client;
  transport: Transport;
  /** The schema of any answer. */
  answer: typeof ResultSchema;
}

class Connection implements McpConnection {
  /** Why we close it. */
  private fault = '';
  private isClosed = false;
  private readonly calls = new Set<Promise<unknown>>();
  private pinging: Promise<void> | undefined;
  readonly ended: Promise<string>;

  constructor(
    private readonly settings: McpServerSettings,
    private readonly options: ConnectionOptions,
    private readonly parts: Parts,
  ) {
    const { client, transport } = parts;
    client.onerror = (err) => this.warn(explained(err));
    this.ended = new Promise((resolve) => {
      client.onclose = () => {
        this.isClosed = true;
        resolve(this.fault || endingOf(transport) || 'the connection was closed');
      };
    });
    limitAnswers(transport, () => {
      this.fault ||= 'it asks faster than it takes the answers';
      void this.close();
    });
  }

  async start(): Promise<void> {
    const { settings, options } = this;
    const { client, transport } = this.parts;
    const timeout = settings.startupMs;
    // Ended by the caller, or by us if the start takes too long.
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(timeout)]);
    try {
      await lasting(signal, async (inner) => {
        await client.connect(transport, { signal: inner, timeout });
        const list = (request: { signal?: AbortSignal }): Promise<ListedTools> =>
          listTools(client, settings, { ...request, timeout });
        const warn = (reason: string): void => this.warn(reason);
        await watchTools(client, list, { ...options, warn, signal: inner });
      });
    } catch (err) {
      // Before we end it ourselves, which is not the reason.
      const reason = this.fault || endingOf(transport) || startFault(err, signal, settings);
      await this.close().catch(() => undefined);
      throw new Error(reason, { cause: err });
    }
    // If a server no longer answers, the SDK keeps trying without an error for its callers.
    if (settings.transport.kind === 'http')
      client.onerror = (err) => {
        this.warn(explained(err));
        this.check();
      };
  }

  get isOpen(): boolean {
    return !this.isClosed && !this.fault && !isEnding(this.parts.transport);
  }

  async callTool(name: string, args: Record<string, unknown>, stop: AbortSignal): Promise<CallResult> {
    const { client, answer } = this.parts;
    const request = { method: 'tools/call', params: { name, arguments: args } };
    const call = lasting(stop, (signal) =>
      client.request(request, answer, {
        signal,
        timeout: this.settings.toolMs,
        // Requests progress reports from the server: each report restarts the wait.
        onprogress: () => undefined,
        resetTimeoutOnProgress: true,
      }),
    );
    this.calls.add(call);
    try {
      return readResult(await call);
    } catch (err) {
      // A server that hangs keeps its connection.
      if (isTimeout(err)) this.check();
      if (isSessionGone(err)) void this.retire();
      throw err;
    } finally {
      this.calls.delete(call);
    }
  }

  async close(): Promise<void> {
    const { client, transport } = this.parts;
    await client.close();
    // The client does not close a transport that never spoke.
    await transport.close();
  }

  /** What fails because we close it is no news. */
  private warn(reason: string): void {
    if (!this.fault) this.options.warn(reason);
  }

  /** It takes no new calls, and closes when those that it has have ended. */
  private async retire(): Promise<void> {
    this.fault ||= 'it no longer knows the session';
    const late = delay(DRAIN_MS, undefined, { ref: false });
    await Promise.race([Promise.allSettled(this.calls), late]);
    await this.close();
  }

  private check(): void {
    this.pinging ??= this.ping().finally(() => (this.pinging = undefined));
  }

  /** A server that does one thing at a time answers when a call that runs is done. */
  private async ping(): Promise<void> {
    const { client, answer } = this.parts;
    const timeout = this.calls.size > 0 ? Math.max(this.settings.toolMs, PING_MS) : PING_MS;
    try {
      await client.request({ method: 'ping' }, answer, { timeout });
    } catch (err) {
      if (isSessionRefused(err)) await this.retire();
      else if (!isThere(err)) {
        this.fault ||= `it did not answer a ping: ${explained(err)}`;
        await this.close();
      }
    }
  }
}

/**
 * Forwards a signal while the work lasts. The SDK listens forever: a later abort would make it cancel calls at the
 * server that were answered long ago.
 */
async function lasting<T>(outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  outer.throwIfAborted();
  const inner = new AbortController();
  let abort = (): void => undefined;
  // Not all that the SDK does heeds a signal.
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => {
      inner.abort(outer.reason);
      reject(outer.reason as Error);
    };
  });
  outer.addEventListener('abort', abort);
  try {
    return await Promise.race([work(inner.signal), aborted]);
  } finally {
    outer.removeEventListener('abort', abort);
  }
}

const endingOf = (transport: Transport): string =>
  transport instanceof GroupStdioTransport ? transport.ending : '';

const isEnding = (transport: Transport): boolean =>
  transport instanceof GroupStdioTransport && transport.isEnding;

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
  { version, onProcess }: ConnectionOptions,
): Promise<Pick<Parts, 'client' | 'transport'>> {
  const { Client: SdkClient } = await import('@modelcontextprotocol/sdk/client/index.js');
  const client = new SdkClient({ name: 'holdfast', version });
  if (transport.kind === 'http') return { client, transport: await httpTransport(transport) };
  return { client, transport: new GroupStdioTransport(transport, onProcess) };
}

/** Lists the tools now and after each change, one listing at a time; between two of them are pauses that grow. */
async function watchTools(
  client: Client,
  list: (request: { signal?: AbortSignal }) => Promise<ListedTools>,
  { onTools, warn, signal }: ConnectionOptions,
): Promise<void> {
  const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
  let isChanged = false;
  let isListing = true;
  /** Until nothing has changed in a pause: some servers report a change whenever they are asked for the list. */
  const listAgain = async (): Promise<void> => {
    isListing = true;
    for (
      let pause = FIRST_PAUSE_MS;
      isChanged && client.transport;
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    ) {
      isChanged = false;
      try {
        onTools(await list({}));
      } catch (err) {
        warn(`its tools could not be listed again: ${reasonOf(err)}`);
      }
      await delay(pause, undefined, { ref: false });
    }
    isListing = false;
  };
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    isChanged = true;
    if (!isListing) void listAgain();
  });
  onTools(await list({ signal }));
  void listAgain();
}
