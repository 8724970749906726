// A command that watches its work, when somebody ends that work elsewhere: by `holdfast down`, or in Temporal's web UI.
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stringify } from 'yaml';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { call } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn({ ownServer: true });

beforeAll(() => engine.start(), 60_000);
afterAll(async () => expect(await engine.end()).toEqual([]), 60_000);

/** Starts a command, and gives what the command line said of it in the end. */
const watch = async (): Promise<() => Promise<{ stdout: string; stderr: string; code: number }>> => {
  const running = join(engine.dataDir, 'running');
  rmSync(running, { force: true });
  const watching = engine.spawnCli(['exec', '--json', '--yield-ms', '60000', `touch ${running}; sleep 600`]);
  if (!watching.stderr || !watching.stdout) throw new Error('its output is not piped');
  const output = Promise.all([text(watching.stdout), text(watching.stderr), once(watching, 'exit')]);
  await until(() => existsSync(running));
  return async () => {
    const [stdout, stderr, [code]] = (await output) as [string, string, [number]];
    return { stdout, stderr, code };
  };
};

test('`run` of an agent that is terminated in its turn says so and exits', async () => {
  const begun = join(engine.dataDir, 'begun');
  const replies = join(engine.dataDir, 'replies.yaml');
  const code = `touch ${begun}; sleep 600`;
  const reply = { text: call('code_execution_tool', { runtime: 'terminal', code }) };
  writeFileSync(replies, stringify([reply]));
  const running = engine.cli(['run', 'x', '--agent', 'doomed', '--model', `scripted:${replies}`]);
  await until(() => existsSync(begun));
  const { workflowId } = engine.client.agent('doomed');
  await engine.client.temporal.workflow.getHandle(workflowId).terminate('too dear');
  const { stderr, code: exit } = await running;
  expect(stderr).toContain('holdfast: agent_ended: Agent doomed ended without a result: it was terminated');
  expect(exit).toBe(75);
}, 60_000);

test('with `--json`, a command that Ctrl-C ends writes nothing, and its agent goes on', async () => {
  const begun = join(engine.dataDir, 'left');
  const replies = join(engine.dataDir, 'left.yaml');
  const code = `touch ${begun}; sleep 600`;
  const reply = { text: call('code_execution_tool', { runtime: 'terminal', code }) };
  writeFileSync(replies, stringify([reply]));
  const running = engine.spawnCli([
    'run',
    '--json',
    '--agent',
    'left',
    '--model',
    `scripted:${replies}`,
    'x',
  ]);
  if (!running.stderr || !running.stdout) throw new Error('its output is not piped');
  const output = Promise.all([text(running.stdout), text(running.stderr), once(running, 'exit')]);
  await until(() => existsSync(begun));
  running.kill('SIGINT');
  expect(await output).toEqual(['', '', [130, null]]);
  expect((await engine.client.agent('left').ownState()).status).toBe('working');
  await engine.client.agent('left').stop();
  await engine.client.agent('left').result();
}, 60_000);

// Which of the two ends is seen first is a race: the session's, or the engine's.
test('with `--json`, a command that `down --sessions` ends says how in one JSON object, and nothing else', async () => {
  const said = await watch();
  expect(await engine.cli(['down', '--sessions'])).toMatchObject({ code: 0 });
  const { stdout, stderr, code } = await said();
  expect(JSON.parse(stdout + stderr)).toMatchObject(
    code === 75
      ? { error: { code: 'engine_stopped' } }
      : { state: 'exited', killedBy: { by: 'closed', reason: 'holdfast down --sessions' } },
  );
}, 120_000);

test('with `--json`, a command whose engine `down` stops says so in one JSON object, and nothing else', async () => {
  const said = await watch();
  expect(await engine.cli(['down'])).toMatchObject({ code: 0 });
  const { stdout, stderr, code } = await said();
  expect({ stdout, code }).toEqual({ stdout: '', code: 75 });
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'engine_stopped' } });
}, 120_000);
