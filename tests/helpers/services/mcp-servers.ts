// MCP servers as a worker has them, without a worker: started for real, and gone at the end.
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';
import { isAlive, identityOf, type Identity } from '../../../system/processes/process-identity';
import { sessionEnvironment } from '../../../exec/host/session-environment';
import { McpServers } from '../../../tools/mcp/servers';
import type { McpServerSettings, StdioServer } from '../../../tools/mcp/mcp-settings';
import { createToolRegistry, type ToolRegistry } from '../../../tools/registry';
import type { ToolContext } from '../../../tools/tool';
import type { ToolOutcome } from '../../../contracts/tools/tools';
import { until } from '../until';

const BIN = join(packageRoot(), 'node_modules', '.bin');
const FIXTURE = join(packageRoot(), 'tests', 'fixtures', 'mcp-server.mjs');
const ODD_FIXTURE = join(packageRoot(), 'tests', 'fixtures', 'odd-mcp-server.mjs');
const RAW_FIXTURE = join(packageRoot(), 'tests', 'fixtures', 'raw-mcp-server.mjs');

const stdio = (args: string[]): StdioServer => ({
  kind: 'stdio',
  command: process.execPath,
  args,
  cwd: packageRoot(),
  env: sessionEnvironment(process.env),
});

export const settings = (
  name: string,
  transport: McpServerSettings['transport'],
  more: Partial<McpServerSettings> = {},
): McpServerSettings => ({
  name,
  transport,
  enabledTools: null,
  disabledTools: [],
  startupMs: 20_000,
  toolMs: 20_000,
  secrets: [],
  fault: null,
  ...more,
});

/** A server of npm, as its users start it. */
export const reference = (
  name: 'everything' | 'filesystem',
  args: string[] = [],
  more?: Partial<McpServerSettings>,
): McpServerSettings => settings(name, stdio([join(BIN, `mcp-server-${name}`), ...args]), more);

/** Our own, whose faults can be asked for. */
export const fixture = (
  { name = 'fix', mode = 'stdio', journal = '' } = {},
  more?: Partial<McpServerSettings>,
): McpServerSettings => settings(name, stdio([FIXTURE, mode, journal]), more);

/** One that speaks without the SDK, and breaks the protocol. */
export const raw = (mode = '', more?: Partial<McpServerSettings>): McpServerSettings =>
  settings('raw', stdio([RAW_FIXTURE, mode]), more);

/** The texts of its answers, whole messages, by method; an object is the result of one. */
export type OddAnswers = Partial<
  Record<'initialize' | 'tools/list' | 'tools/call', string | object | readonly (string | object)[]>
>;

const ECHO = { name: 'echo', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } };
const USUAL: Required<OddAnswers> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'odd', version: '1' },
  },
  'tools/list': { tools: [ECHO] },
  'tools/call': { content: [{ type: 'text', text: 'hello' }] },
};

/** One that answers as the test says, and otherwise with one tool, `mcp__odd__echo`, that says hello. */
export const odd = (answers: OddAnswers, more?: Partial<McpServerSettings>): McpServerSettings => {
  const texts = Object.entries({ ...USUAL, ...answers }).map(([method, given]) => {
    const all = Array.isArray(given) ? (given as unknown[]) : [given];
    return [method, all.map((each) => (typeof each === 'string' ? each : answerText(each)))];
  });
  return settings('odd', stdio([ODD_FIXTURE, JSON.stringify(Object.fromEntries(texts))]), more);
};

const answerText = (result: unknown): string =>
  `{"jsonrpc":"2.0","id":$ID,"result":${JSON.stringify(result)}}`;

/** Any program, which need not speak MCP. */
export const program = (
  command: string,
  args: string[],
  more?: Partial<McpServerSettings>,
): McpServerSettings => settings('program', { ...stdio(args), command }, more);

export const FIXTURE_FILE = FIXTURE;

export interface TestServers {
  servers: McpServers;
  registry: ToolRegistry;
  warnings: string[];
  /** Resolves when each of them is connected. */
  connected(): Promise<void>;
  call(tool: string, args?: Record<string, unknown>, signal?: AbortSignal): Promise<ToolOutcome>;
  /** Closes all; returns the processes that are left. */
  end(): Promise<number[]>;
}

export function testServers(...all: McpServerSettings[]): TestServers {
  const started: Identity[] = [];
  const warnings: string[] = [];
  const servers = new McpServers({
    version: '0.0.0',
    onProcess(pid) {
      started.push(identityOf(pid));
      return () => undefined;
    },
    log: {
      info: () => undefined,
      warn: (message, facts) => void warnings.push(`${message} ${JSON.stringify(facts)}`),
    },
  });
  const registry = createToolRegistry([], [servers]);
  servers.reconcile(all);
  const context = (signal: AbortSignal): ToolContext =>
    ({
      agent: 'a',
      key: 'k',
      attempt: 1,
      settings: {},
      caller: null,
      host: null,
      signal,
    }) as unknown as ToolContext;
  return {
    servers,
    registry,
    warnings,
    connected: () => until(() => servers.status().every(({ state }) => state === 'connected')),
    call: (tool, args = {}, signal = new AbortController().signal) =>
      registry.invoke({ callId: 'c', tool, args }, context(signal)),
    async end() {
      await servers.close();
      return started.filter(isAlive).map(({ pid }) => pid);
    },
  };
}
