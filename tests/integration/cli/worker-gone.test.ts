// Commands that wait while the worker is gone and cannot be started again, or starts differently.
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { isAlive } from '../../../system/processes/process-identity';
import { runningWorker } from '../../../workers/process/worker-record';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { call, scratch } from '../../helpers/engines/temporal';
import { ApiClient } from '../../helpers/gateway/gateway';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const file = (name: string): string => join(engine.dataDir, name);
const FAULTY = file('holdfast.toml');
beforeAll(() => engine.start(), 60_000);
afterEach(async () => {
  rmSync(FAULTY, { force: true });
  if (!runningWorker(engine.dataDir)) await engine.startWorker();
});
afterAll(async () => expect(await engine.end()).toEqual([]), 60_000);

/** Its worker is killed while `exec` waits, and cannot be started again as long as the file is there. */
async function execWithout(session: string, ...args: string[]): ReturnType<typeof running> {
  const waiting = await running(session, ...args);
  writeFileSync(FAULTY, 'nonsense = true\n');
  await engine.killWorker();
  return waiting;
}

interface Waiting {
  output: Promise<{ code: number; stdout: string; stderr: string }>;
  said: () => string;
}

async function running(session: string, ...args: string[]): Promise<Waiting> {
  const [begun, go] = [file(`begun-${session}`), file(`go-${session}`)];
  const code = `touch ${begun}; until [ -e ${go} ]; do sleep 0.02; done; echo done`;
  const child = engine.spawnCli(['exec', '--session', session, ...args, code]);
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const output = Promise.all([text(child.stdout as Readable), once(child, 'close')]).then(
    ([stdout, [code]]) => ({ stdout, stderr: said, code: Number(code) }),
  );
  await until(() => existsSync(begun));
  return { output, said: () => said };
}

test('a command whose worker cannot be started again says why, and waits until it can', async () => {
  const { output, said } = await execWithout('1');
  await until(() => said().includes('unknown key "nonsense"'));
  rmSync(FAULTY);
  writeFileSync(file('go-1'), '');
  expect(await output).toMatchObject({ code: 0, stdout: 'done\n' });
}, 60_000);

test('with --json, it ends with the reason, and does not say that the command has no effect', async () => {
  const { output } = await execWithout('2', '--json');
  const { stdout, stderr, code } = await output;
  expect([stdout, code]).toEqual(['', 70]);
  const reason = expect.stringContaining('unknown key "nonsense"') as string;
  const error = { code: 'worker_failed', effect: 'possible', facts: { reason } };
  expect(JSON.parse(stderr)).toMatchObject({ error });
}, 60_000);

test('a gateway answers with the reason, and goes on once the worker is back', async () => {
  const serving = engine.spawnCli(['serve', '--listen', '127.0.0.1:0', '--json']);
  try {
    const [line] = (await once(createInterface(serving.stdout as Readable), 'line')) as [string];
    const { url } = JSON.parse(line) as { url: string };
    const { stdout } = await engine.cliInTurn(['token', 'create', 'one', '--role', 'operator']);
    const api = new ApiClient(url, stdout.trim());
    writeFileSync(FAULTY, 'nonsense = true\n');
    await engine.killWorker();
    const { body } = await api.ask('POST', '/v1/sessions/any/local/3/exec', { code: 'true' });
    expect(body).toMatchObject({ code: 'worker_failed', effect: 'possible' });
    rmSync(FAULTY);
    await until(() => runningWorker(engine.dataDir) !== undefined);
    const next = await api.post('/v1/sessions/any/local/4/exec', { code: 'echo on' });
    expect(next).toMatchObject({ output: 'on\n' });
  } finally {
    serving.kill('SIGTERM');
    await once(serving, 'close');
  }
}, 120_000);

test('`stop` without a worker says so, and that the agent ends as soon as there is one', async () => {
  const own = new EngineOfItsOwn();
  try {
    await own.startServer();
    await own.connect();
    const agent = own.client.agent('left');
    await agent.start({ mode: 'conversation', model: 'scripted:none' });
    const { code, stdout, stderr } = await own.cliInTurn(['stop', 'left']);
    expect([code, stdout]).toEqual([69, '']);
    expect(stderr).toContain('The stop is recorded: agent left ends as soon as a worker runs.');
    expect(stderr).toContain('no_worker');
    const json = await own.cliInTurn(['stop', 'left', '--json']);
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: 'no_worker', effect: 'possible' } });
    await own.startWorker();
    await until(async () => (await agent.run()).isOver);
  } finally {
    expect(await own.end()).toEqual([]);
  }
}, 60_000);

describe('a worker that was killed is restarted by each command that waits for it:', () => {
  const files = scratch();
  const run = (code: string): { text: string } => ({
    text: call('code_execution_tool', { runtime: 'terminal', code }),
  });
  const SESSION = ['--agent', 'kept', '--session', '0'];
  beforeAll(async () => {
    const agent = engine.client.agent('kept');
    const replies = [run('echo one > a'), run('echo two > a'), { text: 'done' }, { text: 'again' }];
    await agent.start({ mode: 'conversation', ...files.settings(replies) });
    await agent.send('write');
    writeFileSync(file('sent'), 'sent');
  }, 60_000);
  afterAll(async () => {
    await engine.client.agent('kept').stop();
    files.remove();
  });

  const commands: [string, ...string[]][] = [
    ['log', 'kept'],
    ['diff', 'kept', '--stat'],
    ['output', ...SESSION, '--wait', 'exit'],
    ['wait', '0', '--agent', 'kept', '--for', 'exit'],
    ['rewind', 'kept', '--to', '1', '--files'],
    ['cp', file('sent'), 'kept:copied'],
    ['fork', 'kept', 'forked'],
    ['send', 'kept', 'go on'],
    ['recover', 'kept'],
    ['reset', ...SESSION],
    ['close', ...SESSION],
    ['stop', 'forked'],
  ];
  test.each(commands)(
    '`%s`',
    async (...args) => {
      await engine.killWorker();
      expect(await engine.cliInTurn(args)).toMatchObject({ code: 0 });
      expect(runningWorker(engine.dataDir)).toBeDefined();
    },
    60_000,
  );

  test('one that is killed in the middle of a rewind, too, whose command ends as if nothing had been', async () => {
    const agent = engine.client.agent('halved');
    const replies = [run('echo one > a; echo one > b'), run('echo two > a; echo two > b'), { text: 'done' }];
    await agent.start({ mode: 'conversation', ...files.settings(replies) });
    await agent.send('write');
    // One that looks for the crash point.
    await engine.killWorker();
    const { identity: doomed } = await engine.startWorker();
    writeFileSync(file('crash-at'), 'rewind-half');
    expect(await engine.cliInTurn(['rewind', 'halved', '--to', '1'])).toMatchObject({ code: 0 });
    expect(isAlive(doomed)).toBe(false);
    expect(['a', 'b'].map((name) => readFileSync(join(files.directory, name), 'utf8'))).toEqual([
      'one\n',
      'one\n',
    ]);
    await agent.stop();
  }, 60_000);

  test('but `ps` only shows what is there', async () => {
    await engine.killWorker();
    expect(await engine.cliInTurn(['ps'])).toMatchObject({ code: 0 });
    expect(runningWorker(engine.dataDir)).toBeUndefined();
  }, 60_000);
});

test('a command that waits restarts the worker as the last `up` has chosen, not as it did itself', async () => {
  const [first, second] = ['first.toml', 'second.toml'].map(file) as [string, string];
  for (const config of [first, second]) writeFileSync(config, '');
  const { output } = await running('5', '--config', first);
  expect(await engine.cliInTurn(['up', '--config', second])).toMatchObject({ code: 0 });
  await engine.killWorker();
  await until(() => runningWorker(engine.dataDir) !== undefined);
  expect(runningWorker(engine.dataDir)?.config).toBe(second);
  writeFileSync(file('go-5'), '');
  expect(await output).toMatchObject({ code: 0, stdout: 'done\n' });
}, 60_000);
