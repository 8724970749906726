// MCP servers over streamable HTTP: the reference server, and one that is killed and restarted.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../../../system/package-root';
import type { McpServerSettings } from '../../../tools/mcp/mcp-settings';
import { freePort } from '../../helpers/free-port';
import { FIXTURE_FILE, settings, testServers, type TestServers } from '../../helpers/services/mcp-servers';
import { until } from '../../helpers/until';

const KEY = 'open sesame';
let running: TestServers | undefined;
const children: ChildProcess[] = [];
afterEach(async () => {
  await running?.end();
  running = undefined;
  await Promise.all(children.splice(0).map(kill));
});

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function startFixture(port = '0'): Promise<{ child: ChildProcess; port: string }> {
  const child = spawn(process.execPath, [FIXTURE_FILE, 'http', '', port], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, port: line };
}

const http = (
  port: string | number,
  headers: Record<string, string> = {},
  more: Partial<McpServerSettings> = {},
): McpServerSettings => settings('web', { kind: 'http', url: `http://127.0.0.1:${port}/mcp`, headers }, more);

const pidOf = (servers: TestServers): Promise<unknown> => servers.call('mcp__web__pid');

test('the tools of server-everything are called over streamable HTTP', async () => {
  const port = await freePort();
  const bin = join(packageRoot(), 'node_modules', '.bin', 'mcp-server-everything');
  const env = { ...process.env, PORT: String(port) };
  children.push(spawn(process.execPath, [bin, 'streamableHttp'], { stdio: 'ignore', env }));
  // It is not up yet: it is connected as soon as it is.
  running = testServers(http(port));
  await running.connected();
  expect(await running.call('mcp__web__get-sum', { a: 2, b: 3 })).toEqual({
    ok: true,
    value: 'The sum of 2 and 3 is 5.',
  });
});

test('a server without the right key is reported as down, and its tools appear with the key', async () => {
  const { port } = await startFixture();
  running = testServers(http(port, { 'x-key': 'wrong' }));
  const { servers } = running;
  await until(() => servers.status()[0]?.state === 'down');
  expect(servers.status()[0]?.fault).toContain('no key');
  servers.reconcile([http(port, { 'x-key': KEY })]);
  await running.connected();
  expect(await pidOf(running)).toMatchObject({ ok: true });
});

test('a server that quotes the key it refuses does not show it to callers', async () => {
  const { port } = await startFixture();
  running = testServers(http(port, { 'x-key': KEY }, { secrets: [KEY] }));
  await running.connected();
  await running.call('mcp__web__revoke_key');
  const refused = await running.call('mcp__web__pid');
  expect(refused).toMatchObject({ ok: false, error: { code: 'mcp_tool_failed' } });
  expect(JSON.stringify(refused)).toContain('Incorrect key: [secret]');
  expect(JSON.stringify(refused)).not.toContain(KEY);
});

test('a server restarted at the same address is found again by the next call', async () => {
  const { child, port } = await startFixture(String(await freePort()));
  running = testServers(http(port, { 'x-key': KEY }));
  await running.connected();
  const before = await pidOf(running);
  await kill(child);
  await startFixture(port);
  const after = await pidOf(running);
  expect(after).toMatchObject({ ok: true });
  expect(after).not.toEqual(before);
});

test.each([
  ['crash', 'unknown_outcome'],
  ['crash_reading', 'mcp_server_lost'],
])('a call of %s that the server dies at ends as %s, long before the time-out', async (tool, code) => {
  const { port } = await startFixture();
  running = testServers(http(port, { 'x-key': KEY }));
  await running.connected();
  const began = Date.now();
  expect(await running.call(`mcp__web__${tool}`)).toMatchObject({ ok: false, error: { code } });
  expect(Date.now() - began).toBeLessThan(20_000);
});

test('an added tool is announced over HTTP too', async () => {
  const { port } = await startFixture();
  running = testServers(http(port, { 'x-key': KEY }));
  await running.connected();
  const { registry } = running;
  const isListed = (): boolean => registry.describe().some(({ name }) => name === 'mcp__web__newcomer');
  await running.call('mcp__web__add_tool', { name: 'newcomer' });
  await until(isListed);
});
