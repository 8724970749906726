// Tools that only the agents' worker has, called by scripts on another machine: its own modules and MCP servers, under
// the policy of both machines.
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashOf } from '../../../activities/host/command-gate';
import type { WaitingApproval } from '../../../client/agents/approval-desk';
import type { SessionHandle } from '../../../client/session-handle';
import { WORKFLOWS } from '../../../contracts/messages';
import type { OfferedTool } from '../../../contracts/tools/offered-tools';
import { packageRoot } from '../../../system/package-root';
import { EngineOfItsOwn, processesNaming } from '../../helpers/engines/engine-of-its-own';
import { isLongRun } from '../../helpers/run/long-run';
import { FIXTURE_FILE } from '../../helpers/services/mcp-servers';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { QUICK_YIELD, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const fixtures = join(packageRoot(), 'tests', 'fixtures');
const tools = [join(fixtures, 'script-tools.mjs')];
const journal = join(engine.dataDir, 'journal');
const BOTH_ASK = 'refuse = "ask"\n';
let pi: RemoteHost;
let session: SessionHandle;
let folder: string;

beforeAll(async () => {
  engine.configure(
    `[policy.tools]\nnote = "ask"\nlarge = "deny"\n${BOTH_ASK}` +
      `[mcp_servers.fix]\ncommand = ${JSON.stringify(process.execPath)}\n` +
      `args = ${JSON.stringify([FIXTURE_FILE, 'stdio', journal])}\n`,
  );
  const { address } = await engine.startServer();
  pi = new RemoteHost('pi', address);
  writeFileSync(join(pi.dataDir, 'holdfast.toml'), `[policy.tools]\nlate = "deny"\n${BOTH_ASK}`);
  // No agents are served yet.
  await pi.serve();
  await engine.start({ tools });
}, 90_000);
afterAll(async () => {
  await pi.end();
  expect(await engine.end()).toEqual([]);
}, 60_000);
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-far-')));
  const ref = { agent: uniqueId('far'), host: 'pi', session: 0 };
  session = engine.client.session(ref, { cwd: folder });
});
afterEach(async () => {
  await session.close('the test has ended').then(
    () => session.closed(),
    () => undefined,
  );
  rmSync(folder, { recursive: true, force: true });
});

const HEAD = `
import codex_tools, os
def told(tool, /, **args):
  try:
    return codex_tools.call(tool, args)
  except codex_tools.ToolError as err:
    return err.code + ": " + err.message
`;
const PATIENT = { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000 };

/** What a script on the host printed, when it has ended. */
async function printed(code: string, runtime: 'python' | 'terminal' = 'python'): Promise<string> {
  const whole = runtime === 'python' ? `${HEAD}${code}` : code;
  const { output, state } = await session.exec({ runtime, code: whole, yield: PATIENT });
  expect(state).toBe('exited');
  return output.trim().replaceAll('\r', '');
}
const fileOf = (name: string): string => {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};
/** What scripts on the host are offered at this moment. */
const offered = (): OfferedTool[] =>
  JSON.parse(readFileSync(join(pi.dataDir, 'stubs', 'pi', 'current', 'tools.json'), 'utf8')) as OfferedTool[];
const names = (): string[] => offered().map(({ name }) => name);
const untilOffered = (name: string, timeoutMs = 20_000): Promise<void> =>
  until(() => names().includes(name), timeoutMs);

async function untilWaits(): Promise<WaitingApproval> {
  let found: WaitingApproval[] = [];
  await until(async () => {
    found = await engine.client.approvals.of(session.workflowId).catch(() => []);
    return found.length > 0;
  });
  const [one] = found;
  if (!one) throw new Error('nothing waits');
  return one;
}

test('a host that began before any agents were served offers the agents’ tools once they are, except those bound to a host', async () => {
  await untilOffered('fire');
  expect(names()).toEqual(expect.arrayContaining(['shell', 'echo', 'note', 'write_file']));
  // They run on the machine of the shells, which does not have them.
  expect(names()).not.toContain('hang');
  expect(names()).not.toContain('meet_here');
  expect(offered().find(({ name }) => name === 'note')).toMatchObject({
    description: 'Writes a line, once for each call.',
    parameters: { required: ['folder', 'line'] },
    effects: 'idempotent',
  });
  expect(await printed('print(told("hang", folder="/"))')).toMatch(/^unknown_tool: /);
}, 60_000);

test('a script on a host calls an own tool of the agents, from Python and the shell', async () => {
  await untilOffered('fire');
  expect(await printed('print(codex_tools.fire(folder=os.getcwd(), ms=0))')).toBe('fired');
  expect(await printed('tool fire --folder "$PWD" --ms 0', 'terminal')).toBe('fired');
  expect(fileOf('fired')).toBe('xx');
  expect(await printed('print(told("fire", folder=os.getcwd()))')).toMatch(/^invalid_input: .*"\/ms"/);
  expect(fileOf('fired')).toBe('xx');
}, 60_000);

test('a script on a host calls a tool of an MCP server, which runs beside the agents', async () => {
  const pid = await printed('print(told("mcp__fix__pid"))');
  expect(pid).toMatch(/^\d+$/);
  expect(processesNaming(journal).length).toBe(1);
  expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain(journal);
}, 60_000);

test('an own tool that may run only once is not run again when the agents’ worker dies during the call', async () => {
  await untilOffered('fire');
  const said = printed('print(told("fire", folder=os.getcwd(), ms=600_000))');
  await until(() => fileOf('fired') !== '');
  await engine.killWorker();
  await engine.startWorker();
  expect(await said).toMatch(/^unknown_outcome: /);
  expect(fileOf('fired')).toBe('x');
}, 60_000);

test('arguments and a result of megabytes pass between a script on a host and an own tool of the agents', async () => {
  await untilOffered('echo');
  const code = `
value = "".join(chr(97 + i * i % 26) for i in range(1_900_000))
print(codex_tools.echo(value=value) == value)`;
  expect(await printed(code)).toBe('True');
}, 60_000);

test('a call that only the agents’ policy holds waits, is shown as any other, and runs once it is approved', async () => {
  await untilOffered('note');
  const said = printed('print(told("note", folder=os.getcwd(), line="one"))');
  const one = await untilWaits();
  expect(one).toMatchObject({
    what: `script: note {"folder":"${folder}","line":"one"}`,
    reasons: [{ rule: 'tool note', found: 'every call to it' }],
    hash: hashOf({ tool: 'note', args: { folder, line: 'one' }, host: 'pi', cwd: folder }),
    agent: session.ref.agent,
    place: { host: 'pi', cwd: folder },
    runs: 'note',
    values: [
      { name: 'folder', text: folder, omitted: 0 },
      { name: 'line', text: 'one', bytes: 3, omitted: 0 },
    ],
  });
  expect(await session.state()).toMatchObject({ status: 'waiting_approval' });
  const listed = await engine.cliInTurn(['approve', '--list', '--agent', session.ref.agent]);
  expect(listed.stdout).toMatch(/note.*\n.*tool note: every call to it/);
  if (isLongRun) {
    // It waits through the death of the agents' worker, like any other.
    await engine.killWorker();
    await engine.startWorker();
  }
  expect(fileOf('notes')).toBe('');
  await engine.client.approvals.approve(session.workflowId, { hash: one.hash });
  expect(await said).toBe('noted one');
  expect(fileOf('notes')).toBe('one\n');
}, 60_000);

test('a call that the agents’ policy holds does not run once it is denied', async () => {
  await untilOffered('note');
  const said = printed('print(told("note", folder=os.getcwd(), line="two"))');
  await untilWaits();
  await engine.client.approvals.deny(session.workflowId, { reason: 'no notes', by: 'bob' });
  expect(await said).toMatch(/^approval_denied: .*by bob: no notes; nothing was run/);
  expect(fileOf('notes')).toBe('');
}, 60_000);

test('of large arguments of such a call, the approver sees as much as of any other, and all of them are passed on', async () => {
  await untilOffered('note');
  const said = printed(
    'print(told("note", folder=os.getcwd(), line="l" * 100_000) == "noted " + "l" * 100_000)',
  );
  const { values, hash } = await untilWaits();
  expect(values).toMatchObject([
    { name: 'folder', text: folder },
    { name: 'line', bytes: 100_000, omitted: expect.any(Number) as number },
  ]);
  expect(values?.[1]?.text).toMatch(/^l{10000}/);
  await engine.client.approvals.approve(session.workflowId, { hash });
  expect(await said).toBe('True');
  expect(fileOf('notes')).toBe(`${'l'.repeat(100_000)}\n`);
}, 60_000);

test('a tool that either policy denies is denied', async () => {
  await untilOffered('large');
  expect(await printed('print(told("large", bytes=1))')).toMatch(/^policy_denied: .*tool large/);
  expect(await printed('print(told("late", folder=os.getcwd()))')).toMatch(/^policy_denied: .*tool late/);
  expect(fileOf('late')).toBe('');
}, 60_000);

test('a call that both policies hold for the same reason is asked about once', async () => {
  await untilOffered('refuse');
  const said = printed('print(told("refuse"))');
  const { id } = await untilWaits();
  await engine.client.approvals.approve(session.workflowId, { id });
  // The tool's own answer.
  expect(await said).toMatch(/^not_found: The thing/);
}, 60_000);

test('what a host says was held and why does not stand for the agents’ own policy', async () => {
  await untilOffered('note');
  await session.exec({ code: 'sleep 600', id: 'runs', yield: QUICK_YIELD });
  const args = { folder, line: 'three' };
  const place = { host: 'pi', cwd: folder };
  const hash = hashOf({ tool: 'note', args, ...place });
  const call = { commandId: 'runs', tool: 'note', args, cwd: folder, timeoutMs: 60_000 } as const;
  // Without a reason there is nothing to ask, and a session takes it for approved.
  const hold = { what: 'note', hash, reasons: [], expiresMs: 60_000, place };
  await session.callTool({ id: 'made-up', ...call, effects: 'idempotent', runsOn: 'anywhere', hold });
  expect((await untilWaits()).reasons).toEqual([{ rule: 'tool note', found: 'every call to it' }]);
  await engine.client.approvals.deny(session.workflowId);
  const { outcomes } = await session.toolResults({ ids: ['made-up'] });
  expect(outcomes['made-up']).toMatchObject({ ok: false, error: { code: 'approval_denied' } });
  expect(fileOf('notes')).toBe('');
}, 60_000);

test('a tool that comes while the host serves is callable at once, and is then among those offered', async () => {
  const name = uniqueId('added').replaceAll('-', '_');
  expect(await printed(`print(told("mcp__fix__add_tool", name="${name}"))`)).toBe('added');
  expect(await printed(`print(told("mcp__fix__${name}"))`)).toBe(`I am ${name}`);
  expect(names()).toContain(`mcp__fix__${name}`);
  expect(await printed(`print(codex_tools.mcp__fix__${name}())`)).toBe(`I am ${name}`);
}, 60_000);

test('scripts that call tools nobody has ask together: twenty at once and one later are a few questions, not one each', async () => {
  const runs = async (): Promise<Set<string>> => {
    const found = new Set<string>();
    const query = `WorkflowType = "${WORKFLOWS.offeredTools}"`;
    for await (const { runId } of engine.client.temporal.workflow.list({ query })) found.add(runId);
    return found;
  };
  const latest = async (): Promise<string> =>
    (await engine.client.temporal.workflow.getHandle('tools/pi').describe()).runId;
  // The list of what has run lags.
  const listed = async (): Promise<Set<string>> => {
    const last = await latest();
    await until(async () => (await runs()).has(last));
    return runs();
  };
  const before = await listed();
  const code = `
import threading
said = []
ask = lambda: said.append(told("nobody_has_this").split(":")[0])
calls = [threading.Thread(target=ask) for _ in range(20)]
for call in calls: call.start()
for call in calls: call.join()
ask()
print(len(said), set(said))`;
  expect(await printed(code)).toBe("21 {'unknown_tool'}");
  const asked = [...(await listed())].filter((run) => !before.has(run));
  expect(asked.length).toBeGreaterThan(0);
  // One for all threads together, one for the call after them, and the one of each minute; a thread that begins late on a
  // busy machine is one more. Each for itself, it would be 21.
  expect(asked.length).toBeLessThanOrEqual(6);
}, 60_000);

test('a call of a tool of the agents outlives both workers, and the host knows the tool before any agents are served', async () => {
  await untilOffered('appears');
  const there = join(folder, 'there');
  const said = printed(`print(told("appears", path="${there}"))`);
  said.catch(() => undefined);
  await until(async () => ((await session.state().catch(() => null))?.toolCalls?.open.length ?? 0) > 0);
  await Promise.all([engine.killWorker(), pi.kill()]);
  rmSync(join(pi.dataDir, 'stubs'), { recursive: true });
  await pi.serve();
  expect(names()).toContain('appears');
  await engine.startWorker();
  writeFileSync(there, '');
  expect(await said).toBe('there');
}, 60_000);

// Last: the others need the first tools.
test('agents that are served with other tools offer those to the host, and no longer the old ones', async () => {
  await untilOffered('fire');
  expect((await engine.cliInTurn(['up', '--tools', join(fixtures, 'journal-tools.mjs')])).code).toBe(0);
  const file = join(folder, 'journal');
  // Known to the host still, and not to the agents any more.
  expect(await printed('print(told("fire", folder=os.getcwd(), ms=0))')).toMatch(/^unknown_tool: /);
  expect(await printed(`print(told("write_once", file="${file}"))`)).toBe('written');
  expect(fileOf('journal')).toBe('write_once 1\n');
  expect(names()).not.toContain('fire');
}, 90_000);
