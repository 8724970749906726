// The MCP servers of a worker, as a source of tools. They connect in the background, so that a server that is down does
// not block the worker's start.
import { isDeepStrictEqual } from 'node:util';
import type { Tool, ToolSource } from '../tool';
import { McpServer, type McpServerHooks, type McpServerStatus } from './mcp-server';
import type { McpServerSettings } from './mcp-settings';

export class McpServers implements ToolSource {
  private servers = new Map<string, McpServer>();
  /** The last one of each name that is being closed: its successor waits for it. */
  private readonly closing = new Map<string, Promise<void>>();
  private readonly listeners = new Set<() => void>();
  private isClosed = false;

  constructor(private readonly hooks: Omit<McpServerHooks, 'onChange'>) {}

  tools(): readonly Tool[] {
    return [...this.servers.values()].flatMap((server) => server.tools);
  }

  faults(): readonly string[] {
    return [...this.servers.values()].flatMap((server) => server.leftOut);
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Of the servers that are there now: one that is added later is new to everybody. */
  async settled(): Promise<void> {
    await Promise.all([...this.servers.values()].map((server) => server.settled));
  }

  status(): McpServerStatus[] {
    return [...this.servers.values()].map((server) => server.status());
  }

  settings(): McpServerSettings[] {
    return [...this.servers.values()].map((server) => server.settings);
  }

  /** Connects new servers, closes removed ones, and restarts those whose settings have changed. */
  reconcile(wanted: readonly McpServerSettings[]): void {
    if (this.isClosed) return;
    const kept = wanted.flatMap((settings) => {
      const same = this.servers.get(settings.name);
      return same && isDeepStrictEqual(same.settings, settings) ? [same] : [];
    });
    for (const server of this.servers.values()) if (!kept.includes(server)) this.drop(server);
    this.servers = new Map(
      wanted.map((settings) => {
        const same = kept.find((server) => server.settings.name === settings.name);
        return [settings.name, same ?? this.connect(settings)];
      }),
    );
    this.changed();
  }

  /** Resolves when no process of any server is left. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const server of this.servers.values()) this.drop(server);
    this.servers = new Map();
    await Promise.all(this.closing.values());
  }

  private connect(settings: McpServerSettings): McpServer {
    const onChange = (): void => {
      // A replaced server may still report its end.
      if ([...this.servers.values()].includes(server)) this.changed();
    };
    const server: McpServer = new McpServer(
      settings,
      { ...this.hooks, onChange },
      this.closing.get(settings.name),
    );
    return server;
  }

  private drop(server: McpServer): void {
    const { name } = server.settings;
    const closed = server.close().finally(() => {
      if (this.closing.get(name) === closed) this.closing.delete(name);
    });
    this.closing.set(name, closed);
  }

  private changed(): void {
    for (const listener of [...this.listeners]) listener();
  }
}
