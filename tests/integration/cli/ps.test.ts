// What `ps` and `tree` show: what each waits for and since when, and who ended what.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Work } from '../../../cli/print/work';
import type { SessionHandle } from '../../../client/session-handle';
import { agentWorkflowId } from '../../../contracts/ids';
import { toolCall } from '../../../testing/scripted-model';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { QUICK_YIELD, scratch, type Scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';
import { holderRecord } from '../../helpers/terminals/holder-record';

const engine = new EngineOfItsOwn();
let cwd: string;
let files: Scratch;
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'holdfast-ps-'));
  files = scratch();
  await engine.start();
}, 60_000);
afterAll(async () => {
  expect(await engine.end()).toEqual([]);
  rmSync(cwd, { recursive: true, force: true });
  files.remove();
}, 60_000);

const ps = async (...args: string[]): Promise<Work[]> =>
  JSON.parse((await engine.cliInTurn(['ps', '--json', ...args])).stdout) as Work[];
const rowOf = async (workflowId: string, ...args: string[]): Promise<Work | undefined> =>
  (await ps(...args)).find((row) => row.workflowId === workflowId);
const background = { firstOutputMs: 0, betweenOutputMs: 0, maxMs: 0 };
/** Lists follow a moment after a session is opened. */
const untilListed = ({ workflowId }: SessionHandle): Promise<void> =>
  until(async () => (await rowOf(workflowId)) !== undefined);

/** An agent whose one tool call waits for a password. */
async function waitingAgent(id: string): Promise<void> {
  const args = { runtime: 'terminal', session: 1, code: 'echo asking; read -r -s -p "password: " p' };
  const wait = toolCall('wait', { sessions: [1], for: 'exit', timeout_ms: 600_000 });
  const model = files.model([{ text: toolCall('code_execution_tool', args) }, { text: wait }]);
  await engine.client.agent(id).start({ task: 'ask', model, cwd, yield: QUICK_YIELD });
  // Its first call, which starts the command, is over.
  for await (const { message } of engine.client.agent(id).follow()) if (message.role === 'tool') break;
  await until(async () => (await rowOf(`${agentWorkflowId(id)}/turn/1`))?.waits?.for === 'a tool');
  await until(async () => (await rowOf(`exec/${id}/local/1`))?.waits?.for === 'a password');
}

test('tree shows an agent with its turn and its sessions, what each waits for and since when', async () => {
  await waitingAgent('asker');
  const session = await rowOf('exec/asker/local/1');
  expect(session).toMatchObject({ agent: 'asker', waits: { for: 'a password' }, end: null });
  expect(Date.parse(session?.waits?.since ?? '')).toBeGreaterThanOrEqual(Date.parse(session?.since ?? ''));
  const { stdout, code } = await engine.cliInTurn(['tree']);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^agent\/asker {2}\w+ {2}working: turn 1\n├─ turn 1 {2}.*waits for a tool since \w+\n└─ session local\/1 {2}.*waits for a password since \w+\n/m,
  );
});

test('who ended a command is shown, with the reason and when', async () => {
  const session = engine.client.session({ agent: 'cli', session: 5 }, { cwd });
  await session.exec({ code: 'sleep 1000', yield: background });
  await session.reset({ reason: 'too slow' });
  await untilListed(session);
  expect(await rowOf(session.workflowId)).toMatchObject({
    doing: 'idle, epoch 2',
    killed: { by: 'reset', reason: 'too slow', at: expect.any(String) as string },
  });
  expect((await engine.cliInTurn(['ps'])).stdout).toMatch(
    /exec\/cli\/local\/5 .*last ended by reset \(too slow\) \w+ ago/,
  );
});

test('a session whose holder is stopped does not answer, and says so with the pid', async () => {
  const session = engine.client.session({ agent: 'cli', session: 9 }, { cwd });
  await session.exec({ code: 'sleep 1000', yield: background });
  await untilListed(session);
  const { pid } = holderRecord(engine, session.ref).identity;
  process.kill(pid, 'SIGSTOP');
  const row = await rowOf(session.workflowId).finally(() => process.kill(pid, 'SIGCONT'));
  expect(row?.doing).toBe(`does not answer: pid ${pid} is stopped by a signal (T): sleep 1000`);
  await session.close('test ended');
});

test('what runs in a session is shown by the first line of its code', async () => {
  const session = engine.client.session({ agent: 'cli', session: 10 }, { cwd });
  await session.exec({ code: 'sleep 1000 # the build\ntrue', yield: background });
  await untilListed(session);
  expect((await rowOf(session.workflowId))?.doing).toBe('running terminal, epoch 1: sleep 1000 # the build');
  await session.close('test ended');
});

test('--all shows what has ended, and of what was terminated by whom and why', async () => {
  const session = engine.client.session({ agent: 'cli', session: 6 }, { cwd });
  await session.exec({ code: 'true' });
  await engine.client.temporal.workflow.getHandle(session.workflowId).terminate('an operator had enough');
  await until(async () => (await rowOf(session.workflowId)) === undefined);
  const how = expect.stringMatching(/^terminated by .+: an operator had enough$/) as string;
  expect(await rowOf(session.workflowId, '--all')).toMatchObject({
    end: { how, at: expect.any(String) as string },
  });
});

test('without a worker the sessions of this machine still report what they are doing, and the rest says that no worker answers', async () => {
  const session = engine.client.session({ agent: 'cli', session: 7 }, { cwd });
  await session.exec({ code: 'read -r line', yield: background });
  await session.output({ wait: 'needs_input' });
  await untilListed(session);
  await engine.killWorker();
  const rows = await ps();
  expect(rows.find(({ workflowId }) => workflowId === session.workflowId)).toMatchObject({
    session: null,
    waits: { for: 'input' },
  });
  expect(rows.find(({ type }) => type === 'agent')?.doing).toBeNull();
  expect((await engine.cliInTurn(['ps'])).stdout).toMatch(/agent\/asker .*no worker answers/);
  await engine.start();
});

test('--watch prints each change as one JSON value, and Ctrl-C ends it with 130', async () => {
  const session = engine.client.session({ agent: 'cli', session: 8 }, { cwd });
  await session.exec({ code: 'true' });
  const child = engine.spawnCli(['ps', '--watch', '--json']);
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const seen = (): (string | null | undefined)[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map(
        (line) =>
          (JSON.parse(line) as Work[]).find(({ workflowId }) => workflowId === session.workflowId)?.doing,
      );
  await until(() => seen().includes('idle, last exit code 0, epoch 1'));
  await session.exec({ code: '(exit 9)' });
  await until(() => seen().includes('idle, last exit code 9, epoch 1'));
  const lines = text.trim().split('\n');
  lines.forEach((line, at) => expect(line).not.toBe(lines[at - 1]));
  child.kill('SIGINT');
  await until(() => child.exitCode !== null || child.signalCode !== null);
  expect(child.exitCode).toBe(130);
});
