// MCP servers that die, hang, or break the protocol: what their callers and operators learn, and when they are replaced.
import { fixture, program, raw, testServers, type TestServers } from '../../helpers/services/mcp-servers';
import { until } from '../../helpers/until';

let running: TestServers | undefined;
afterEach(async () => {
  const left = await running?.end();
  running = undefined;
  expect(left ?? []).toEqual([]);
});

async function connect(...all: Parameters<typeof testServers>): Promise<TestServers> {
  running = testServers(...all);
  await running.connected();
  return running;
}
const pidOf = async (servers: TestServers): Promise<number> => {
  const pid = await servers.call('mcp__fix__pid');
  return Number('value' in pid ? pid.value : NaN);
};
async function faultOf(...all: Parameters<typeof testServers>): Promise<string | null | undefined> {
  const { servers } = (running = testServers(...all));
  await until(() => servers.status()[0]?.state === 'down');
  return servers.status()[0]?.fault;
}

test('a server that dies is replaced although a process it started holds its error output open', async () => {
  const servers = await connect(fixture());
  const before = await pidOf(servers);
  const began = Date.now();
  const lost = servers.call('mcp__fix__crash_leaving', { seconds: 20 });
  await until(() => !isThere(before));
  // It waits for the next server, and is not sent to the one that is gone.
  const after = await pidOf(servers);
  expect(after).toBeGreaterThan(0);
  expect(after).not.toBe(before);
  expect(await lost).toMatchObject({ ok: false, error: { code: 'unknown_outcome' } });
  expect(JSON.stringify(await lost)).toContain('it ended with 3');
  void servers.call('mcp__fix__crash_leaving', { seconds: 20 });
  await until(() => !isThere(after));
  expect(await servers.end()).toEqual([]);
  expect(Date.now() - began).toBeLessThan(15_000);
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a server that hangs is replaced after a call’s time-out', async () => {
  const servers = await connect(fixture({}, { toolMs: 1_000 }));
  const before = await pidOf(servers);
  const hung = await servers.call('mcp__fix__freeze');
  expect(JSON.stringify(hung)).toContain('did not answer within 1000 ms');
  let after = NaN;
  await until(async () => (after = await pidOf(servers)) > 0);
  expect(after).not.toBe(before);
  expect(servers.warnings.join()).toContain('it did not answer a ping');
}, 40_000);

test('a server that closes its output and lives on is replaced at once', async () => {
  const servers = await connect(fixture({ mode: 'stubborn' }));
  const before = await pidOf(servers);
  const lost = await servers.call('mcp__fix__close_output');
  expect(lost).toMatchObject({ ok: false, error: { code: 'unknown_outcome' } });
  expect(JSON.stringify(lost)).toContain('it ended with');
  expect(await pidOf(servers)).not.toBe(before);
});

test('a server that is slow with a call, but replies to a ping, is kept', async () => {
  const servers = await connect(raw('', { toolMs: 1_000 }));
  const stateNow = async (): Promise<string[]> => {
    const state = await servers.call('mcp__raw__state');
    return 'value' in state ? (state.value as string).split(' ') : [];
  };
  const [before] = await stateNow();
  await servers.call('mcp__raw__never');
  await until(async () => (await stateNow())[1] === '1');
  expect(await stateNow()).toEqual([before, '1']);
  expect(servers.warnings.join()).not.toContain('is down');
});

test('a server that is not ready in time is reported as that', async () => {
  expect(await faultOf(program('sleep', ['1000'], { startupMs: 500 }))).toBe(
    'it was not ready within 500 ms',
  );
});

test('a server that refuses the handshake is reported with its reason', async () => {
  expect(await faultOf(raw('refusing'))).toContain('your version is too old');
});

test('a program that asks without end, and reads no answers, is ended and told of once', async () => {
  expect(await faultOf(raw('asking'))).toBe('it asks faster than it takes the answers');
  expect(running?.warnings).toHaveLength(1);
});

test('a program that ends at once is reported with its exit code', async () => {
  expect(await faultOf(program('sh', ['-c', 'exec <&-; sleep 0.3; exit 1']))).toBe('it ended with 1');
});

test('of a server’s tools only those that nobody could call, or that are too large or too deep, are left out, with the reason', async () => {
  const { registry } = await connect(raw('', { disabledTools: ['disabled'] }));
  const names = registry.describe().map(({ name }) => name);
  expect(names).toContain('mcp__raw__state');
  expect(names).not.toContain('mcp__raw__no_object');
  const faults = registry.faults();
  expect(faults).toHaveLength(4);
  expect(faults[0]).toMatch(
    /tool no_object of the MCP server raw is left out: .*type "string", allowed "object"/,
  );
  expect(faults[2]).toMatch(
    /tool long of the MCP server raw is left out: got \d+ bytes, allowed up to 262144/,
  );
  expect(faults[3]).toMatch(
    /tool deep of the MCP server raw is left out: got one nested more than 64 levels/,
  );
});

test('a tool’s own words about its failure are shown without the secrets of the settings', async () => {
  const secret = 'correct horse battery';
  const plain = fixture({}, { secrets: [secret] });
  const env = { ...('env' in plain.transport ? plain.transport.env : {}), KEY: secret };
  const servers = await connect({
    ...plain,
    transport: { ...plain.transport, env } as typeof plain.transport,
  });
  const refused = await servers.call('mcp__fix__refuse_quoting', { name: 'KEY' });
  expect(JSON.stringify(refused)).toContain('bad key [secret]');
});
