// The examples as users run them: TypeScript that Node runs as it stands, beside the worker of `holdfast up`.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';
import type { CliResult } from '../../helpers/engines/command-lines';
import { EngineOfItsOwn, processesNaming } from '../../helpers/engines/engine-of-its-own';
import { testEachOf } from '../../helpers/run/long-run';
import { call, scratch, uniqueId, type Scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const EXAMPLES = join(packageRoot(), 'examples');
/** One that waits for what never comes is killed, and its exit code is null. */
const LONGEST_MS = 45_000;

const engine = new EngineOfItsOwn({ ownServer: true });
let files: Scratch;
beforeAll(async () => {
  files = scratch();
  await engine.start();
}, 60_000);
afterAll(async () => {
  const left = [...(await engine.end()), ...processesNaming(files.directory)];
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

function run(name: string, folder = EXAMPLES, ...args: string[]): Promise<CliResult> {
  const env = { ...process.env, TEMPORAL_ADDRESS: engine.server().address };
  return new Promise((resolve) => {
    const options = { cwd: folder, env, timeout: LONGEST_MS, killSignal: 'SIGKILL' as const };
    const child = execFile(process.execPath, [`${name}.ts`, ...args], options, (_err, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

/** One that fails says why on stderr, where workers log. */
async function expectToPrint(name: string, expected: string): Promise<void> {
  const { code, stdout, stderr } = await run(name);
  expect({ code, stdout, failure: code === 0 ? '' : stderr }).toEqual({
    code: 0,
    stdout: expected,
    failure: '',
  });
}

test('a backend starts an agent, answers its script, reads the output and gets the result', async () => {
  await expectToPrint(
    'backend',
    'the script asks: Deploy?\nit went on: yes / deploying: yes (exit code 0)\nanswered after 3 steps: It is deployed.\n',
  );
}, 60_000);

test('an embedded worker serves an agent with its own tool and model beside the worker of `up`, and ends by itself', async () => {
  await expectToPrint('embedded-worker', 'There are 12 pieces of bolts.\n');
}, 60_000);

test('a child agent gives its workflow the agent’s answer', async () => {
  await expectToPrint('child-agent', 'the version: All tests pass.\n');
}, 60_000);

test('an agent is watched: its question is approved, its output printed as it arrives, and its messages followed', async () => {
  const { code, stdout, stderr } = await run('watch-and-approve');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.split('\n')).toEqual([
    'approved: remote_code',
    ...['part 1', 'part 2', 'part 3', 'end'].map((line) => `output: ${line}`),
    ...[
      'user',
      'checkpoint',
      'assistant',
      'tool',
      'checkpoint',
      'assistant',
      'tool',
      'checkpoint',
      'assistant',
    ].map((role) => `turn 1: ${role}`),
    'It is installed.',
    '',
  ]);
}, 60_000);

test('a list names the agents that match, what each is doing and what it waits for', async () => {
  const id = uniqueId('listed');
  const asks = { runtime: 'terminal', session: 1, code: 'read -r x' };
  const waits = { sessions: [1], for: 'exit', timeout_ms: 600_000 };
  const replies = [{ text: call('code_execution_tool', asks) }, { text: call('wait', waits) }];
  const agent = engine.client.agent(id);
  await agent.start({ task: `Ask, ${id}`, ...files.settings(replies) });
  await until(async () => (await agent.state()).turn?.step === 2);
  const { code, stdout } = await run('list-agents', EXAMPLES, id);
  await agent.stop();
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `${id}: working, waits for none: Ask, ${id}\n  step 2: Running wait; sessions: 1; waits for input\n`,
  });
}, 60_000);

/** A copy, as users make one, in which one thing is different. */
function changed(name: string, from: string, to: string): string {
  const folder = join(files.directory, uniqueId(name));
  cpSync(EXAMPLES, folder, { recursive: true, filter: (path) => !path.endsWith('node_modules') });
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  symlinkSync(packageRoot(), join(modules, 'holdfast'));
  for (const other of ['@temporalio', 'zod'])
    symlinkSync(join(packageRoot(), 'node_modules', other), join(modules, other));
  const file = join(folder, `${name}.ts`);
  const source = readFileSync(file, 'utf8');
  expect(source).toContain(from);
  writeFileSync(file, source.replace(from, to));
  return folder;
}

testEachOf(
  [
    { name: 'backend', from: "'deploying: yes'", to: "'what nobody printed'", code: 1, says: /model_script/ },
    // Before its first command: nothing asks.
    {
      name: 'backend',
      from: 'scripted:${file}',
      to: 'scripted:/missing',
      code: 1,
      says: /model_script_invalid/,
    },
    {
      name: 'child-agent',
      from: "'3 tests passed', text",
      to: "'what nobody printed', text",
      // A workflow of one's own that takes the failure as an answer.
      code: 0,
      says: /could not be tested: model_script/,
    },
    { name: 'embedded-worker', from: 'storekeeper:bolts', to: 'nobody:bolts', code: 1, says: /nobody:bolts/ },
  ],
  ({ to }) => to === 'scripted:/missing',
)(
  '$name ends, too, and says why, when its agent fails ($from -> $to)',
  async ({ name, from, to, code, says }) => {
    const ran = await run(name, changed(name, from, to));
    expect(`${ran.stdout}${ran.stderr}`).toMatch(says);
    expect(ran.code).toBe(code);
  },
  60_000,
);

/** What the tool gives to an agent that calls it. */
async function resultOf(tool: string, args: object): Promise<string> {
  const agent = engine.client.agent(uniqueId('tools'));
  await agent.start({ task: 'x', model: files.model([{ text: call(tool, args) }, { text: 'done' }]) });
  await agent.result();
  const { messages } = await agent.transcript();
  return messages.flatMap((message) => (message.role === 'tool' ? [message.content] : [])).join();
}

test('own tools in TypeScript load as they are, and tell the model what to correct', async () => {
  const { code, stderr } = await engine.cliInTurn(['up', '--tools', join(EXAMPLES, 'own-tools.ts')]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(await resultOf('stock_level', { article: 'bolts' })).toBe('12 pieces of bolts');
  expect(await resultOf('stock_level', { article: 'nails' })).toMatch(
    /^Error invalid_input.*allowed bolts, nuts/,
  );
  expect(await resultOf('take_out', { article: 'bolts', pieces: 2 })).toBe('10 pieces are left.');
  expect(await resultOf('take_out', { article: 'bolts', pieces: 11 })).toMatch(
    /^Error invalid_input.*got 11, allowed at most 10/,
  );
  const space = JSON.parse(await resultOf('free_space', {})) as { host: string; bytes: number };
  expect(space.host).toBe('local');
  expect(space.bytes).toBeGreaterThan(0);
}, 60_000);
