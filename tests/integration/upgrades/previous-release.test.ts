// The release before this one against this one, both ways: workers, terminals, hosts and command lines, and going back. It
// is built from its commit, once: in the usual run only what is built already is tested.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InboxItem } from '../../../contracts/gateway/api';
import { packageRoot } from '../../../system/package-root';
import { runningWorker } from '../../../workers/process/worker-record';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { ApiClient, gatewayOn } from '../../helpers/gateway/gateway';
import { isLongRun } from '../../helpers/run/long-run';
import { Person } from '../../helpers/terminals/person';
import {
  buildPrevious,
  isPreviousBuilt,
  noPrevious,
  previousBin,
} from '../../helpers/releases/previous-release';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { QUICK_YIELD, scratch, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const OWN_BIN = join(packageRoot(), 'bin', 'holdfast.js');
const TOOLS = join(packageRoot(), 'tests', 'fixtures', 'script-tools.mjs');

/** First the release that began, then the one that goes on. */
const WAYS = [
  ['the previous release', 'this one', previousBin, OWN_BIN],
  ['this release', 'the previous one', OWN_BIN, previousBin],
] as const;

const missing = noPrevious() ?? (isLongRun || isPreviousBuilt() ? undefined : 'it is built in the long run');
const testWays = missing === undefined ? test.each(WAYS) : test.skip.each(WAYS);

const engine = new EngineOfItsOwn();
const files = scratch();
let host: RemoteHost;

beforeAll(async () => {
  if (missing !== undefined) return;
  await buildPrevious();
  engine.configure('[policy.agents]\nasked = "ask"\n');
  await engine.startServer();
  await engine.connect();
  host = new RemoteHost('pi', engine.server().address);
}, 600_000);
afterAll(async () => {
  if (missing === undefined) await host.end();
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

/** A command line of a release. */
async function holdfast(bin: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await engine.cli(args, { bin });
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code}\n${stdout}\n${stderr}`);
  return stdout;
}

/** Makes the worker one of this release. */
async function up(bin: string): Promise<void> {
  await holdfast(bin, 'up', '--tools', TOOLS);
  expect(runningWorker(engine.dataDir)?.release?.folder).toBe(join(bin, '..', '..'));
}

const file = (name: string): string => join(files.directory, name);
const linesOf = (name: string): string[] =>
  existsSync(file(name)) ? readFileSync(file(name), 'utf8').split('\n').slice(0, -1) : [];

testWays(
  'what %s began goes on with the worker of %s: a shell, a script, an approval, a conversation',
  async (_first, _second, first, second) => {
    const agent = uniqueId('moves');
    const settings = { cwd: files.directory, yield: QUICK_YIELD };
    const of = (name: string, session: number) => engine.client.session({ agent: name, session }, settings);
    await up(first);
    const shell = of(agent, 0);
    const began = await shell.exec({ code: 'kept=1; echo $BASHPID; read -r line; echo "$line $BASHPID"' });
    expect(began.state).toBe('waiting_input');
    const script = of(agent, 1).exec({
      runtime: 'python',
      code: `import codex_tools, os, time
i = 0
while i < 10 or not os.path.exists("${agent}-go"):
  assert codex_tools.note(folder="${files.directory}", line=f"${agent} {i}") == f"noted ${agent} {i}"
  i += 1
  time.sleep(0.05)
print("calls", i)`,
    });
    script.catch(() => undefined);
    const held = engine.client.session({ agent: 'asked', session: 0 }, settings);
    const asked = held.exec({ code: `echo ran >> ${file(agent)}`, id: agent });
    asked.catch(() => undefined);
    const talk = engine.client.agent(agent);
    await talk.start({ mode: 'conversation', ...files.settings([{ text: 'one' }, { text: 'two' }]) });
    expect(await talk.send('first')).toMatchObject({ answer: 'one' });
    await until(() => linesOf('notes').some((line) => line.startsWith(agent)));
    await until(async () => (await engine.client.approvals.of(held.workflowId).catch(() => [])).length === 1);

    await up(second);
    const seen = linesOf('notes').length;
    await until(() => linesOf('notes').length > seen);
    writeFileSync(file(`${agent}-go`), '');
    expect(await talk.send('second')).toMatchObject({ answer: 'two' });
    expect(await holdfast(second, 'ps')).toContain(agent);
    const person = new Person(engine.dataDir, ['--agent', agent], { bin: second });
    await person.sees('attached');
    person.types('typed\r');
    await person.sees(`typed ${began.output.trim()}`);
    person.types('\x1d');
    expect(await person.exits()).toBe(0);
    expect(await shell.output({ wait: 'exit', waitMs: 60_000 })).toMatchObject({
      state: 'exited',
      exitCode: 0,
    });
    expect(await shell.exec({ code: 'echo "kept $kept"' })).toMatchObject({ output: 'kept 1\n' });
    const { output } = await of(agent, 1).output({ wait: 'exit', waitMs: 60_000, from: 0 });
    const notes = linesOf('notes').filter((line) => line.startsWith(agent));
    expect(output).toContain(`calls ${notes.length}`);
    expect(notes).toEqual(notes.map((_, i) => `${agent} ${i}`));
    await script;
    const [one] = await engine.client.approvals.of(held.workflowId);
    await engine.client.approvals.approve(held.workflowId, { hash: one?.hash ?? '', by: 'alice' });
    await asked;
    expect(linesOf(agent)).toEqual(['ran']);
    await shell.reset();
    expect(await shell.exec({ code: 'echo "kept ${kept:-nothing}"' })).toMatchObject({
      output: 'kept nothing\n',
    });
    for (const session of [shell, of(agent, 1), held]) await session.close('the test');
    await talk.stop('the test');
  },
  180_000,
);

testWays(
  'a command line of %s works with the worker of %s',
  async (_first, _second, first, second) => {
    await up(second);
    const agent = uniqueId('line');
    const at = ['--agent', agent];
    expect(await holdfast(first, 'exec', ...at, 'echo said by $((6 * 7))')).toContain('said by 42');
    expect(await holdfast(first, 'output', ...at)).toContain('said by 42');
    const model = files.model([{ text: 'an answer' }]);
    expect(await holdfast(first, 'run', '--model', model, 'a task')).toContain('an answer');
    expect(await holdfast(first, 'ps', '--json')).toContain(agent);
    expect(await holdfast(first, 'tools')).toContain('note');
    await holdfast(first, 'close', ...at);
  },
  120_000,
);

testWays(
  'what the inbox of this release sends as an answer is taken, after %s, by the worker of %s',
  async (_first, _second, _bin, second) => {
    await up(second);
    const agent = uniqueId('answers');
    const shell = engine.client.session({ agent, session: 0 }, { yield: QUICK_YIELD });
    await shell.exec({ code: 'read -r line; echo "got $line"' });
    const gateway = await gatewayOn(engine);
    try {
      const api = await ApiClient.of(gateway, 'operator');
      let waiting: InboxItem['session'];
      await until(async () => {
        const { items } = await api.get<{ items: InboxItem[] }>('/v1/inbox');
        waiting = items.find((item) => item.agent === agent)?.session;
        return waiting !== undefined;
      });
      const prompt = waiting?.prompt;
      expect(prompt).toBeDefined();
      const input = `/v1/sessions/${agent}/local/0/input`;
      const answer = await api.post(input, { keyboard: 'it', prompt });
      expect(answer).toMatchObject({ state: 'exited', output: 'it\ngot it\n' });
    } finally {
      await gateway.close();
    }
    await shell.close('the test');
  },
  120_000,
);

testWays(
  'a host of %s serves agents of %s, and of its own release before and after',
  async (_first, _second, first, second) => {
    const agent = uniqueId('far');
    const session = engine.client.session({ agent, host: 'pi', session: 0 }, { yield: QUICK_YIELD });
    host.bin = first;
    await up(second);
    await host.serve();
    await until(async () => (await engine.client.hosts.state('pi').catch(() => null))?.status === 'online');
    expect(await session.exec({ code: 'read -r line; echo "got $line"' })).toMatchObject({
      state: 'waiting_input',
    });
    expect(await holdfast(second, 'host', 'ls')).toContain('pi');
    await up(first);
    // The host, too, is replaced while a command runs there.
    await host.kill('SIGTERM');
    host.bin = second;
    await host.serve();
    expect(await session.input({ keyboard: 'it' })).toMatchObject({
      state: 'exited',
      output: 'it\ngot it\n',
    });
    await session.close('the test');
    await host.kill('SIGTERM');
  },
  180_000,
);
