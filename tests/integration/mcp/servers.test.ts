// MCP servers as a source of tools: the reference servers of npm, and one that fails on demand.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixture, reference, testServers, type TestServers } from '../../helpers/services/mcp-servers';
import type { McpServerSettings } from '../../../tools/mcp/mcp-settings';
import { until } from '../../helpers/until';

let folder: string;
let journal: string;
let running: TestServers | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-mcp-'));
  journal = join(folder, 'journal');
  writeFileSync(journal, '');
});
afterEach(async () => {
  const left = await running?.end();
  running = undefined;
  rmSync(folder, { recursive: true, force: true });
  expect(left ?? []).toEqual([]);
});

async function connect(...all: Parameters<typeof testServers>): Promise<TestServers> {
  running = testServers(...all);
  await running.connected();
  return running;
}
const names = ({ registry }: TestServers): string[] =>
  registry.describe().flatMap(({ name }) => (name.startsWith('mcp__') ? [name] : []));
const pidOf = async (servers: TestServers): Promise<unknown> => servers.call('mcp__fix__pid');

test('the tools of server-filesystem read and write files, and are described by their schemas and effects', async () => {
  const servers = await connect(reference('filesystem', [folder]));
  const path = join(folder, 'a.txt');
  expect(await servers.call('mcp__filesystem__write_file', { path, content: 'hello' })).toMatchObject({
    ok: true,
  });
  expect(readFileSync(path, 'utf8')).toBe('hello');
  // It declares the shape of its result: scripts get an object.
  expect(await servers.call('mcp__filesystem__read_text_file', { path })).toEqual({
    ok: true,
    value: { content: 'hello' },
  });
  const described = servers.registry
    .describe()
    .find(({ name }) => name === 'mcp__filesystem__read_text_file');
  expect(described).toMatchObject({
    effects: 'read_only',
    runsOn: 'anywhere',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    result: { type: 'object', properties: { content: { type: 'string' } } },
  });
});

test('the server’s own words about wrong arguments reach the caller as a typed error', async () => {
  const servers = await connect(reference('filesystem', [folder]));
  const wrong = await servers.call('mcp__filesystem__read_text_file', { path: 7 });
  expect(wrong).toMatchObject({ ok: false, error: { code: 'mcp_tool_failed', retryable: false } });
  expect(JSON.stringify(wrong)).toContain('expected string');
  const outside = await servers.call('mcp__filesystem__read_text_file', { path: '/etc/passwd' });
  expect(outside).toMatchObject({ ok: false, error: { code: 'mcp_tool_failed' } });
  expect(JSON.stringify(outside)).toContain('outside allowed directories');
});

test('server-everything gives text, structured content, and images only by type and size', async () => {
  const servers = await connect(reference('everything'), fixture());
  expect(await servers.call('mcp__everything__get-sum', { a: 2, b: 3 })).toEqual({
    ok: true,
    value: 'The sum of 2 and 3 is 5.',
  });
  expect(
    await servers.call('mcp__everything__get-structured-content', { location: 'Chicago' }),
  ).toMatchObject({
    ok: true,
    value: { temperature: expect.any(Number) as number, conditions: expect.any(String) as string },
  });
  const picture = await servers.call('mcp__everything__get-tiny-image');
  expect(JSON.stringify(picture)).toMatch(/\[image, image\/png, \d+ bytes\]/);
  expect(await servers.call('mcp__fix__picture')).toEqual({
    ok: true,
    value: 'before\n[image, image/png, 1000 bytes]',
  });
});

test('a tool that a server adds is listed and callable without a restart', async () => {
  const servers = await connect(fixture());
  const changed = new Promise<void>((resolve) => servers.registry.onChange(resolve));
  expect(names(servers)).not.toContain('mcp__fix__newcomer');
  await servers.call('mcp__fix__add_tool', { name: 'newcomer' });
  await changed;
  expect(names(servers)).toContain('mcp__fix__newcomer');
  expect(await servers.call('mcp__fix__newcomer')).toEqual({ ok: true, value: 'I am newcomer' });
});

test('of a server with lists only the enabled tools are offered, and none of the disabled ones', async () => {
  const servers = await connect(
    fixture({}, { enabledTools: ['pid', 'crash', 'refuse'], disabledTools: ['crash'] }),
  );
  expect(names(servers)).toEqual(['mcp__fix__pid', 'mcp__fix__refuse']);
});

test.each([
  ['crash', 'unknown_outcome'],
  ['crash_reading', 'mcp_server_lost'],
  ['crash_idempotent', 'mcp_server_lost'],
])(
  'a call of %s during which the server dies ends as %s, and the next call finds it again',
  async (tool, code) => {
    const servers = await connect(fixture());
    const before = await pidOf(servers);
    const lost = await servers.call(`mcp__fix__${tool}`);
    expect(lost).toMatchObject({ ok: false, error: { code } });
    expect(JSON.stringify(lost)).toContain('it ended with 3');
    const after = await pidOf(servers);
    expect(after).toMatchObject({ ok: true });
    expect(after).not.toEqual(before);
  },
);

test('a tool’s own failure is a typed error with the server’s text', async () => {
  const servers = await connect(fixture());
  expect(await servers.call('mcp__fix__refuse')).toMatchObject({
    ok: false,
    error: { code: 'mcp_tool_failed', message: expect.stringContaining('no such order') as string },
  });
});

test('a cancelled call is cancelled at the server too', async () => {
  const servers = await connect(fixture({ journal }));
  const stop = new AbortController();
  const call = servers.call('mcp__fix__forever', {}, stop.signal);
  await until(() => readFileSync(journal, 'utf8') === 'started\n');
  stop.abort(new Error('the turn was stopped'));
  await expect(call).rejects.toThrow('the turn was stopped');
  await until(() => readFileSync(journal, 'utf8') === 'started\ncancelled\n');
});

test('what has been answered is not cancelled later, neither the handshake at its timeout nor an ended call', async () => {
  // It answers in time on a busy machine, too.
  const startupMs = 8_000;
  const { transport, ...rest } = fixture({}, { startupMs });
  const args = 'args' in transport ? transport.args : [];
  // All that the server is sent goes through the journal.
  const script = ['-c', 'tee "$0" | exec "$@"', journal, process.execPath, ...args];
  const servers = await connect({
    ...rest,
    transport: { ...transport, command: 'sh', args: script } as typeof transport,
  });
  const stop = new AbortController();
  await servers.call('mcp__fix__patient', { reports: startupMs / 500 + 2, everyMs: 500 }, stop.signal);
  stop.abort(new Error('too late'));
  await pidOf(servers);
  expect(readFileSync(journal, 'utf8')).toContain('tools/call');
  expect(readFileSync(journal, 'utf8')).not.toContain('notifications/cancelled');
});

test('a call without an answer ends at the time-out, its outcome unknown, and is cancelled at the server', async () => {
  const servers = await connect(fixture({ journal }, { toolMs: 2_000 }));
  const ended = await servers.call('mcp__fix__forever');
  expect(ended).toMatchObject({ ok: false, error: { code: 'unknown_outcome' } });
  expect(JSON.stringify(ended)).toContain('did not answer within 2000 ms');
  await until(() => readFileSync(journal, 'utf8') === 'started\ncancelled\n');
});

test('a call that reports progress outlives the time-out', async () => {
  const servers = await connect(fixture({}, { toolMs: 4_000 }));
  const began = Date.now();
  expect(await servers.call('mcp__fix__patient', { reports: 10, everyMs: 500 })).toEqual({
    ok: true,
    value: 'done',
  });
  expect(Date.now() - began).toBeGreaterThan(4_000);
});

test('a server that cannot be started is reported with its reason, and does not keep others from working', async () => {
  const gone = fixture({ name: 'gone' });
  const broken = {
    ...gone,
    transport: { ...gone.transport, command: 'no-such-program' } as typeof gone.transport,
  };
  running = testServers(broken, fixture());
  const { servers } = running;
  await until(() => servers.status()[0]?.state === 'down' && servers.status()[1]?.state === 'connected');
  expect(servers.status()[0]?.fault).toContain('spawn no-such-program ENOENT');
  expect(await pidOf(running)).toMatchObject({ ok: true });
});

test('what a server says at its death is shown without the secrets of its settings', async () => {
  const secret = 'correct horse battery';
  const noisy = fixture({}, { secrets: [secret] });
  const transport = { ...noisy.transport, args: ['-e', `console.error('key ${secret}'); process.exit(9)`] };
  running = testServers({ ...noisy, transport: transport });
  const { servers, warnings } = running;
  await until(() => servers.status()[0]?.state === 'down');
  expect(servers.status()[0]?.fault).toBe('it ended with 9: key [secret]');
  expect(warnings.join()).not.toContain(secret);
});

test('a server gets the environment of its settings and nothing of the worker’s', async () => {
  process.env.HOLDFAST_PLANTED = 'a credential';
  try {
    const plain = fixture();
    const env = { ...('env' in plain.transport ? plain.transport.env : {}), GIVEN: 'yes' };
    const servers = await connect({
      ...plain,
      transport: { ...plain.transport, env } as typeof plain.transport,
    });
    expect(await servers.call('mcp__fix__variable', { name: 'GIVEN' })).toMatchObject({ value: 'yes' });
    expect(await servers.call('mcp__fix__variable', { name: 'HOLDFAST_PLANTED' })).toMatchObject({
      value: 'none',
    });
  } finally {
    delete process.env.HOLDFAST_PLANTED;
  }
});

test('a server that ends neither with its input nor by SIGTERM is gone when it is closed', async () => {
  const servers = await connect(fixture({ mode: 'stubborn' }));
  expect(await servers.end()).toEqual([]);
});

test('what a server has started is gone with it', async () => {
  const servers = await connect(fixture());
  const child = await servers.call('mcp__fix__leave_child');
  const pid = Number('value' in child ? child.value : NaN);
  expect(process.kill(pid, 0)).toBe(true);
  try {
    await servers.end();
    await until(() => !isThere(pid));
  } finally {
    if (isThere(pid)) process.kill(pid, 'SIGKILL');
  }
});

function isThere(pid: number): boolean {
  try {
    // A zombie that is not reaped counts as gone.
    return !/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

test('when settings change, only the changed server is restarted; a removed one is gone', async () => {
  const servers = await connect(fixture(), fixture({ name: 'other' }));
  const [kept, other] = [await pidOf(servers), await servers.call('mcp__other__pid')];
  servers.servers.reconcile([fixture(), fixture({ name: 'other' }, { toolMs: 19_000 })]);
  await servers.connected();
  expect(await pidOf(servers)).toEqual(kept);
  expect(await servers.call('mcp__other__pid')).not.toEqual(other);
  servers.servers.reconcile([fixture()]);
  expect(names(servers).filter((name) => name.startsWith('mcp__other'))).toEqual([]);
});

test.each([false, true])(
  'a server whose settings change ends before it is started again (removed in between: %s)',
  async (isRemoved) => {
    const slow = (toolMs: number): McpServerSettings => fixture({ mode: 'slow to end', journal }, { toolMs });
    const servers = await connect(slow(20_000));
    if (isRemoved) servers.servers.reconcile([]);
    servers.servers.reconcile([slow(19_000)]);
    await servers.servers.settled();
    expect(servers.servers.status()).toMatchObject([{ state: 'connected' }]);
    expect(readFileSync(journal, 'utf8')).toBe('start\nend\nstart\n');
  },
);

test('a server that is removed while it waits for its predecessor is never started, and keeps nobody waiting', async () => {
  const slow = (toolMs: number): McpServerSettings => fixture({ mode: 'slow to end', journal }, { toolMs });
  const servers = await connect(slow(20_000));
  servers.servers.reconcile([slow(19_000)]);
  const settled = servers.servers.settled();
  servers.servers.reconcile([]);
  await settled;
  expect(await servers.end()).toEqual([]);
  expect(readFileSync(journal, 'utf8')).toBe('start\nend\n');
});

test('servers whose tools get the same name are both left out, by name', async () => {
  const servers = await connect(fixture({ name: 'a-b' }), fixture({ name: 'a_b' }));
  expect(names(servers)).toEqual([]);
  expect(servers.registry.faults().join()).toContain('got mcp__a_b__pid beside mcp__a-b__pid');
});
