// Keeps one MCP server connected: connects at once, and reconnects with growing pauses when it is lost. Meanwhile its
// tools stay listed, and their calls wait for it.
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { Tool } from '../tool';
import { asTool, type CallServer } from './as-tool';
import { callFailure, isRefusal, isSessionGone } from './call-failure';
import { openConnection, type McpConnection } from './connection';
import type { ListedTools } from './list-tools';
import { withoutSecrets, type McpServerSettings } from './mcp-settings';

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 30_000;
/** A connection that lasted this long was good: the next pause is short again. */
const STEADY_MS = 10_000;

export interface McpServerHooks {
  version: string;
  /** Tools, state or fault have changed. */
  onChange(): void;
  onProcess: (pid: number) => () => void;
  log: { info(message: string, facts: object): void; warn(message: string, facts: object): void };
}

/** A server as shown to people. */
export interface McpServerStatus {
  name: string;
  state: 'connecting' | 'connected' | 'down';
  tools: number;
  fault: string | null;
}

export class McpServer {
  tools: readonly Tool[] = [];
  /** Tools that were left out, each with the reason. */
  leftOut: readonly string[] = [];
  private listed: ListedTools | undefined;
  private connection: McpConnection | undefined;
  private fault: string | null = null;
  private readonly over = new AbortController();
  private readonly events = new EventEmitter().setMaxListeners(0);
  private readonly served: Promise<void>;
  private tried!: () => void;
  /** Resolves when the first connection is there or could not be made. */
  readonly settled = new Promise<void>((resolve) => (this.tried = resolve));
  /** Calls that wait for a connection. */
  private waiting = 0;

  /** Connects when `predecessor`, the end of one with the same name, is over: a server must not run twice. */
  constructor(
    readonly settings: McpServerSettings,
    private readonly hooks: McpServerHooks,
    predecessor?: Promise<void>,
  ) {
    this.fault = settings.fault;
    this.served = settings.fault ? Promise.resolve(predecessor) : this.serve(predecessor);
    if (settings.fault) this.tried();
  }

  status(): McpServerStatus {
    const { fault, tools, connection } = this;
    const state = connection ? 'connected' : fault ? 'down' : 'connecting';
    return { name: this.settings.name, state, tools: tools.length, fault };
  }

  /** Ends the connection and its calls; resolves when the server's processes are gone. */
  async close(): Promise<void> {
    this.over.abort();
    this.tried();
    await this.connection?.close();
    await this.served;
  }

  private async serve(predecessor?: Promise<void>): Promise<void> {
    const { signal } = this.over;
    await predecessor;
    for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const { reason, heldMs } = await this.connectOnce();
      if (signal.aborted) return;
      this.setFault(reason);
      if (heldMs > STEADY_MS) pause = FIRST_PAUSE_MS;
      await this.pause(pause);
    }
  }

  /** Resolves when the connection has ended, or could not be made. */
  private async connectOnce(): Promise<{ reason: string; heldMs: number }> {
    const { name } = this.settings;
    const { version, onProcess, log } = this.hooks;
    let heldFrom = Infinity;
    try {
      const connection = await openConnection(this.settings, {
        version,
        onProcess,
        onTools: (listed) => this.offer(listed),
        warn: (reason) => log.warn('MCP server', { server: name, reason: this.harmless(reason) }),
        signal: this.over.signal,
      });
      heldFrom = Date.now();
      this.connection = connection;
      this.fault = null;
      this.hooks.onChange();
      this.tried();
      this.events.emit('connected');
      log.info('MCP server connected', { server: name, tools: this.tools.length });
      const reason = await connection.ended;
      this.connection = undefined;
      // End its processes first: a server must not run twice.
      await connection.close();
      return { reason, heldMs: Date.now() - heldFrom };
    } catch (err) {
      return { reason: (err as Error).message, heldMs: 0 };
    } finally {
      this.tried();
    }
  }

  private offer(listed: ListedTools): void {
    // What each change costs: the list of tools is written, and the stubs of scripts.
    if (isDeepStrictEqual(listed, this.listed)) return;
    this.listed = listed;
    const { tools, faults } = listed;
    this.tools = tools.map((tool) => asTool(this.settings, tool, this.call) as Tool);
    this.leftOut = faults.map((fault) => this.harmless(fault));
    // While the first connection is being set up its tools are not called: everything is reported at once then.
    if (this.connection) this.hooks.onChange();
  }

  private readonly call: CallServer = async ({ tool, args, effects }, context) => {
    const { settings } = this;
    for (let attempt = 1; ; attempt++) {
      const connection = await this.connected(context.signal);
      try {
        return await connection.callTool(tool, args, context.signal);
      } catch (err) {
        if (context.signal.aborted) throw err;
        if (isSessionGone(err) && attempt === 1) continue;
        const lost = connection.isOpen || isRefusal(err) ? null : await connection.ended;
        throw callFailure(err, { settings, tool, effects, lost });
      }
    }
  };

  /** The connection; waits for it as long as a start may take. Throws `mcp_server_down`. */
  private async connected(signal: AbortSignal): Promise<McpConnection> {
    const { name: server, startupMs } = this.settings;
    const patience = AbortSignal.any([signal, this.over.signal, AbortSignal.timeout(startupMs)]);
    while (!this.connection?.isOpen) {
      const connected = once(this.events, 'connected', { signal: patience });
      this.waiting += 1;
      this.events.emit('wanted');
      await connected.catch(() => undefined);
      this.waiting -= 1;
      signal.throwIfAborted();
      if (patience.aborted) {
        const reason = this.over.signal.aborted
          ? 'it was removed, or its settings have changed'
          : (this.fault ?? 'it is starting');
        throw new HoldfastError('mcp_server_down', { server, reason });
      }
    }
    return this.connection;
  }

  /** A waiting call ends the pause, or makes it short from the start. */
  private async pause(pauseMs: number): Promise<void> {
    const ms = this.waiting > 0 ? FIRST_PAUSE_MS : pauseMs;
    const woken = new AbortController();
    const signal = AbortSignal.any([this.over.signal, woken.signal]);
    const wake = (): void => woken.abort();
    this.events.once('wanted', wake);
    await delay(ms, undefined, { signal }).catch(() => undefined);
    this.events.off('wanted', wake);
  }

  private setFault(reason: string): void {
    const before = this.fault;
    this.fault = this.harmless(reason);
    // Reported once, however many attempts fail.
    if (this.fault === before) return;
    this.hooks.log.warn('MCP server is down', { server: this.settings.name, reason: this.fault });
    this.hooks.onChange();
  }

  private harmless(reason: string): string {
    return withoutSecrets(this.settings, reason);
  }
}
