// Which approval the command line means: ids of scripts' calls, and those that callers choose, repeat.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionHandle } from '../../../client/session-handle';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { QUICK_YIELD, scratch, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const files = scratch();

beforeAll(async () => {
  engine.configure('[policy.agents]\nasked = "ask"\n[policy.tools]\nwrite_file = "ask"\n');
  await engine.start();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

const sessionOf = (agent: string, session: number): SessionHandle =>
  engine.client.session({ agent, host: 'local', session }, { yield: QUICK_YIELD, cwd: files.directory });

const waits = (session: SessionHandle): Promise<void> =>
  until(async () => (await engine.client.approvals.of(session.workflowId).catch(() => [])).length > 0);

test('of two scripts’ calls with the same id each is answered at the command line by its session', async () => {
  const agent = uniqueId('writer');
  const both = [0, 1].map((number) => ({
    session: sessionOf(agent, number),
    path: join(files.directory, uniqueId('w')),
  }));
  for (const { session, path } of both) {
    await session.exec({
      runtime: 'python',
      code: `import codex_tools\ntry:\n  codex_tools.write_file(file_path="${path}", content="w")\nexcept codex_tools.ToolError as e:\n  print(e.code)`,
    });
    await waits(session);
  }
  const [first, second] = both as [(typeof both)[0], (typeof both)[0]];
  for (const args of [
    ['approve', 'e1c1'],
    ['deny', 'e1'],
    ['approve', '--agent', agent, '--show'],
  ]) {
    const { code, stdout, stderr } = await engine.cliInTurn(args);
    expect([code, stdout]).toEqual([66, '']);
    expect(stderr).toMatch(
      `allowed e1c1 in ${first.session.workflowId}, e1c1 in ${second.session.workflowId}. Next: Name one`,
    );
  }
  expect((await engine.cliInTurn(['approve', 'e1c1', '--session', '1'])).code).toBe(0);
  await until(() => existsSync(second.path));
  expect(existsSync(first.path)).toBe(false);
  const elsewhere = await engine.cliInTurn(['deny', 'e1c1', '--host', 'elsewhere']);
  expect([elsewhere.code, elsewhere.stderr]).toEqual([66, expect.stringContaining('nothing is waiting')]);
  expect((await engine.cliInTurn(['deny', '--host', 'local', '--session', '0'])).code).toBe(0);
  expect((await first.session.output({ wait: 'exit', waitMs: 20_000 })).output).toContain('approval_denied');
  expect(existsSync(first.path)).toBe(false);
}, 60_000);

test('the way to approve that exec names reaches its command, though another session has one with the same id', async () => {
  const other = sessionOf('asked', 7).exec({ code: 'echo other' }, 'build');
  other.catch(() => undefined);
  await waits(sessionOf('asked', 7));
  const server = ['--data', engine.dataDir, '--namespace', engine.namespace];
  const of = ['--agent', 'asked', '--session', '8', '--id', 'build'];
  const child = engine.spawnCli(['exec', ...server, ...of, 'echo this']);
  const ended = new Promise((resolve) => child.once('close', resolve));
  let told = '';
  child.stderr?.on('data', (chunk: Buffer) => (told += chunk.toString()));
  await until(() => told.includes('Say yes'));
  const [, named = ''] = /Say yes with `holdfast (approve [^`]+)`/.exec(told) ?? [];
  expect((await engine.cliInTurn(named.split(' '))).code).toBe(0);
  expect(await ended).toBe(0);
  await sessionOf('asked', 7).close('test ended');
}, 60_000);
