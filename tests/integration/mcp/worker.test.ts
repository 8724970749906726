// MCP servers and modules from `holdfast.toml` in the command line's worker, as a person sees them.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';
import { identityOf, isAlive, type Identity } from '../../../system/processes/process-identity';
import { runningWorker } from '../../../workers/process/worker-record';
import type { CliResult } from '../../helpers/engines/command-lines';
import { EngineOfItsOwn, processesNaming } from '../../helpers/engines/engine-of-its-own';
import { FIXTURE_FILE } from '../../helpers/services/mcp-servers';
import { call, scratch, uniqueId, type Scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const MODULE = join(packageRoot(), 'tests', 'fixtures', 'journal-tools.mjs');
const SECRET = 'sk-planted-1234';

const engine = new EngineOfItsOwn({ ownServer: true });
const config = join(engine.dataDir, 'holdfast.toml');
/** In its arguments, so that its processes can be found. */
const journal = join(engine.dataDir, 'journal');
const server = (name: string, mode = 'stdio'): string =>
  `[mcp_servers.${name}]\ncommand = ${JSON.stringify(process.execPath)}\n` +
  `args = ${JSON.stringify([FIXTURE_FILE, mode, journal])}\nenv = { KEY = "${SECRET}" }\n`;
const servers = (): string[] => processesNaming(journal);

let files: Scratch;
beforeAll(async () => {
  files = scratch();
  await engine.startServer();
  writeFileSync(config, `[tools]\nmodules = [${JSON.stringify(MODULE)}]\n${server('fix')}`);
  await engine.start();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

const hf = (...args: string[]): Promise<CliResult> => engine.cliInTurn(args);

interface Listed {
  tools: { name: string }[];
  worker: Identity;
  servers: { name: string; state: string; fault: string | null }[];
  faults: string[];
}
const registry = (): Listed =>
  JSON.parse(readFileSync(join(engine.dataDir, 'registry.json'), 'utf8')) as Listed;
/** From the living worker: a dead one's record does not count. */
const stateOf = (name: string): string | undefined => {
  const { worker, servers: all } = registry();
  return isAlive(worker) ? all.find((one) => one.name === name)?.state : undefined;
};
const untilConnected = (...names: string[]): Promise<void> =>
  until(() => names.every((name) => stateOf(name) === 'connected'));

/** What an agent's model reads of one tool call. */
async function resultOf(tool: string, args: object = {}): Promise<string> {
  const agent = engine.client.agent(uniqueId('mcp'));
  await agent.start({ task: 'x', model: files.model([{ text: call(tool, args) }, { text: 'done' }]) });
  await agent.result();
  const { messages } = await agent.transcript();
  return messages.flatMap((message) => (message.role === 'tool' ? [message.content] : [])).join();
}

test('an agent calls the tools of MCP servers and of the configured modules', async () => {
  await untilConnected('fix');
  expect(await resultOf('mcp__fix__pid')).toMatch(/^\d+$/);
  const file = join(files.directory, 'written');
  expect(await resultOf('write_again', { file })).toBe('written');
}, 60_000);

test('`holdfast tools` lists every tool with its effects and place, and `tools show` explains one', async () => {
  await untilConnected('fix');
  const { stdout, stderr, code } = await hf('tools');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^mcp__fix__pid +read only +anywhere +The tool pid\.$/m);
  expect(stdout).toMatch(/^mcp__fix__crash +once +anywhere/m);
  expect(stdout).toMatch(/^write_again /m);
  expect(stderr).toContain('MCP server fix: connected');
  const listed = JSON.parse((await hf('tools', '--json')).stdout) as Listed;
  expect(listed.tools.map(({ name }) => name)).toContain('mcp__fix__variable');
  expect(listed.servers).toMatchObject([{ name: 'fix', state: 'connected', fault: null }]);
  const shown = await hf('tools', 'show', 'mcp__fix__add_tool');
  expect(shown.stdout).toContain('name  string, required');
  expect(shown.stdout).toContain('codex_tools.mcp__fix__add_tool(name="…")');
  expect(shown.stdout).toContain("tool mcp__fix__add_tool --name '…'");
  const json = JSON.parse((await hf('tools', 'show', 'wait', '--json')).stdout) as { name: string };
  expect(json).toMatchObject({ name: 'wait', effects: 'read_only' });
  expect(await hf('tools', 'show', 'nobody')).toMatchObject({
    code: 65,
    stderr: expect.stringContaining('unknown_tool') as string,
  });
}, 60_000);

test('a server added to the file while the worker runs is callable, and a removed one is gone', async () => {
  await untilConnected('fix');
  const before = runningWorker(engine.dataDir);
  const beginning = readFileSync(config, 'utf8');
  writeFileSync(config, `${beginning}${server('second')}`);
  await untilConnected('fix', 'second');
  expect(await resultOf('mcp__second__pid')).toMatch(/^\d+$/);
  expect(servers()).toHaveLength(2);
  writeFileSync(config, beginning);
  await until(() => stateOf('second') === undefined && servers().length === 1);
  expect(await resultOf('mcp__second__pid')).toContain('unknown_tool');
  expect(runningWorker(engine.dataDir)).toEqual(before);
}, 60_000);

test('a server added while a script sleeps is callable when it wakes', async () => {
  await untilConnected('fix');
  const beginning = readFileSync(config, 'utf8');
  const session = engine.client.session({ agent: uniqueId('mcp'), session: 0 });
  const code = `
import codex_tools
print(hasattr(codex_tools, "mcp__late__pid"))
input("asleep ")
print(codex_tools.mcp__late__pid())`;
  const asleep = await session.exec({ runtime: 'python', code });
  expect(asleep).toMatchObject({
    state: 'waiting_input',
    output: expect.stringContaining('False') as string,
  });
  writeFileSync(config, `${beginning}${server('late')}`);
  await untilConnected('late');
  await session.input({ keyboard: '' });
  const { output, exitCode } = await session.output({ wait: 'exit', from: 0 });
  expect([exitCode, output]).toEqual([0, expect.stringMatching(/asleep\s+\d+\s*$/)]);
  writeFileSync(config, beginning);
  await until(() => stateOf('late') === undefined);
  await session.close('done');
}, 60_000);

test('a file that becomes invalid changes nothing, and both the log and `holdfast tools` say so without secrets', async () => {
  await untilConnected('fix');
  const beginning = readFileSync(config, 'utf8');
  writeFileSync(config, `${beginning}foo = "${SECRET}"\n`);
  await until(() => registry().faults.length > 0);
  const { stdout, stderr } = await hf('tools');
  expect(stdout).toMatch(/^mcp__fix__pid /m);
  expect(stderr).toContain('The previous configuration stays in effect.');
  expect(stderr).toContain('"mcp_servers.fix" has the unknown key "foo"');
  const log = readFileSync(join(engine.dataDir, 'worker.log'), 'utf8');
  expect(log).toContain(String.raw`has the unknown key \"foo\"`);
  expect(stderr + log).not.toContain(SECRET);
  // What runs can be looked at all the same.
  expect(await hf('ps')).toMatchObject({ code: 0 });
  writeFileSync(config, beginning);
  await until(() => registry().faults.length === 0);
}, 60_000);

test('settings read only at a start are reported to apply from the next start', async () => {
  const beginning = readFileSync(config, 'utf8');
  const webhook = '[webhooks.ci]\nurl = "https://example.com/"\nsecret_env = "NONE"\n';
  writeFileSync(config, `[features]\nunified_exec = false\n${webhook}${beginning}`);
  await until(() => registry().faults.length > 0);
  const { stderr } = await hf('tools');
  for (const part of ['[features]', '[webhooks]'])
    expect(stderr).toContain(`${part} of the configuration has changed`);
  writeFileSync(config, beginning);
  await until(() => registry().faults.length === 0);
}, 60_000);

describe('in the first moments of the next worker, while a server starts slowly', () => {
  const slowly = `sleep 2; exec ${process.execPath} ${FIXTURE_FILE} stdio ${journal}`;
  const slow = `[mcp_servers.slow]\ncommand = "/bin/sh"\nargs = ["-c", ${JSON.stringify(slowly)}]\n`;
  const AT_ITS_END = { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000 };
  let beginning: string;
  beforeEach(() => {
    beginning = readFileSync(config, 'utf8');
    writeFileSync(config, `${beginning}${slow}`);
  });
  afterEach(async () => {
    writeFileSync(config, beginning);
    await until(() => stateOf('slow') === undefined && servers().length === 1);
  });

  test('a model’s call waits for it, and is not told that its tool does not exist', async () => {
    await engine.killWorker();
    await engine.startWorker();
    expect(await resultOf('mcp__slow__pid')).toMatch(/^\d+$/);
  }, 60_000);

  test('the calls of a running script wait for it, both those from before and new ones', async () => {
    await untilConnected('slow');
    const go = join(files.directory, 'go');
    const code = `
import codex_tools, os, threading, time
def told(tool):
  try:
    return codex_tools.call(tool, {})
  except codex_tools.ToolError as err:
    return err.code
before = threading.Thread(target=lambda: print("before", told("mcp__slow__forever")))
before.start()
while not os.path.exists("${go}"):
  time.sleep(0.01)
print("new", told("mcp__slow__pid"))
before.join()`;
    const session = engine.client.session({ agent: uniqueId('mcp'), session: 0 });
    const running = session.exec({ runtime: 'python', code, yield: AT_ITS_END });
    running.catch(() => undefined);
    await until(() => existsSync(journal));
    await engine.killWorker();
    await engine.startWorker();
    writeFileSync(go, '');
    const { output } = await running;
    // It may run only once, and its server went with the worker.
    expect(output).toMatch(/^before unknown_outcome\s*$/m);
    expect(output).toMatch(/^new \d+\s*$/m);
    await session.close('done');
  }, 60_000);

  test('scripts import and call its tools, in each language', async () => {
    await untilConnected('slow');
    // The next worker has those that this one has written for scripts, a moment after it has connected.
    const stubs = join(engine.dataDir, 'stubs', 'local', 'current', 'python', 'codex_tools.py');
    await until(() => readFileSync(stubs, 'utf8').includes('mcp__slow__pid'));
    await engine.killWorker();
    await engine.startWorker();
    const agent = uniqueId('mcp');
    const printed = async (session: number, runtime: 'python' | 'nodejs' | 'terminal', code: string) => {
      const at = engine.client.session({ agent, session });
      const { output } = await at.exec({ runtime, code, yield: AT_ITS_END });
      await at.close('done');
      return output.trim();
    };
    const all = await Promise.all([
      printed(0, 'python', 'from codex_tools import mcp__slow__pid\nprint(mcp__slow__pid())'),
      printed(
        1,
        'nodejs',
        'import { mcp__slow__pid } from "codex-tools";\nconsole.log(await mcp__slow__pid())',
      ),
      printed(2, 'terminal', 'tool mcp__slow__pid'),
    ]);
    for (const pid of all) expect(pid).toMatch(/^\d+$/);
  }, 60_000);
});

test('the servers of a worker that was killed are gone when the next one serves, however stubborn', async () => {
  const beginning = readFileSync(config, 'utf8');
  writeFileSync(config, `${beginning}${server('rock', 'stubborn')}`);
  await untilConnected('fix', 'rock');
  const rock = identityOf(Number(await resultOf('mcp__rock__pid')));
  await engine.killWorker();
  // Its input has ended, and it lives on.
  expect(isAlive(rock)).toBe(true);
  writeFileSync(config, beginning);
  await engine.startWorker();
  await untilConnected('fix');
  try {
    await until(() => !isAlive(rock));
  } finally {
    if (isAlive(rock)) process.kill(rock.pid, 'SIGKILL');
  }
  expect(servers()).toHaveLength(1);
}, 60_000);

test('without a worker the tools come from the configuration, with a note that MCP servers are not among them', async () => {
  await hf('down');
  await until(() => servers().length === 0);
  const { stdout, stderr } = await hf('tools');
  expect(stdout).toMatch(/^write_again /m);
  expect(stdout).not.toContain('mcp__');
  expect(stderr).toContain('the tools of the MCP servers are not shown (fix)');
  await hf('up');
}, 60_000);

test('an invalid configuration keeps a worker from starting with one error, and the running one continues', async () => {
  const other = join(files.directory, 'other.toml');
  writeFileSync(other, 'foo = 1\n[features]\nbar = 2\n');
  const before = runningWorker(engine.dataDir);
  const { code, stderr } = await hf('up', '--config', other);
  expect(code).toBe(78);
  expect(stderr).toContain('config_invalid');
  expect(stderr).toContain('"foo"');
  expect(stderr).toContain('"bar"');
  expect(runningWorker(engine.dataDir)).toEqual(before);
}, 60_000);

test('a configuration that was named is kept for later starts, until it is taken away', async () => {
  const other = join(files.directory, 'named.toml');
  writeFileSync(other, server('named'));
  expect((await hf('up', '--config', other)).code).toBe(0);
  await until(() => stateOf('named') === 'connected');
  await engine.killWorker();
  expect((await hf('up')).code).toBe(0);
  await until(() => stateOf('named') === 'connected');
  expect(stateOf('fix')).toBeUndefined();
  expect((await hf('up', '--no-config')).code).toBe(0);
  await untilConnected('fix');
  expect(stateOf('named')).toBeUndefined();
  rmSync(other);
}, 60_000);
