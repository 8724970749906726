// The inbox while what waits cannot answer.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { hostWorkflowId } from '../../../contracts/ids';
import { HOST_NAMESPACE_MEMO, WORKFLOWS } from '../../../contracts/messages';
import type { InboxItem } from '../../../contracts/gateway/api';
import type { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { HoldfastClient } from '../../../client/holdfast-client';
import { runningWorker } from '../../../workers/process/worker-record';
import { GatewayOfItsOwn } from '../../helpers/gateway/gateway-of-its-own';
import { ApiClient } from '../../helpers/gateway/gateway';
import { call, QUICK_YIELD, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const own = new GatewayOfItsOwn();
const { engine, files } = own;
beforeAll(() => own.start({ config: '[policy.agents]\nasked = "ask"\n' }), 60_000);
afterAll(() => own.end(), 60_000);

const inbox = async (): Promise<InboxItem[]> =>
  (await own.api.get<{ items: InboxItem[] }>('/v1/inbox')).items;

describe('an open session whose queue has no worker', () => {
  const stray = 'exec/stray/local/0';
  beforeAll(async () => {
    const elsewhere = new HoldfastClient(engine.client.temporal, engine.client.address, { queue: 'nobody' });
    const session = elsewhere.session({ agent: 'stray', session: 0 });
    await expect(session.exec({ code: 'true' })).rejects.toMatchObject({ code: 'no_worker' });
  }, 60_000);
  // So that the next test sees only its own.
  afterAll(() => engine.client.temporal.workflow.getHandle(stray).terminate('test ended'));

  test('is named beside the approvals that are known, of which none is an answer, too', async () => {
    expect(await own.api.get('/v1/approvals')).toEqual({ items: [], next: null, unanswered: [stray] });
    const { code, stdout, stderr } = await engine.cliInTurn(['approve', '--list']);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/These sessions and turns do not answer: exec\/stray\/local\/0 \(\w+\)/);
    const forPrograms = await engine.cliInTurn(['approve', '--list', '--json']);
    expect([forPrograms.code, JSON.parse(forPrograms.stdout)]).toEqual([0, []]);
    expect(JSON.parse(forPrograms.stderr)).toEqual({ unanswered: [expect.stringContaining(stray)] });
  }, 60_000);

  test('is neither asked nor named for a token that may not see its agent', async () => {
    const limited = await ApiClient.of(own.gateway, 'viewer', ['zzz*']);
    expect(await limited.get('/v1/approvals')).toEqual({ items: [], next: null, unanswered: [] });
  });
});

test('what waits for a person stays in the inbox while its worker hangs, and is told as what cannot be answered now', async () => {
  const asks = [
    { text: call('code_execution_tool', { runtime: 'terminal', code: 'rm -rf build' }) },
    { text: 'over' },
  ];
  await own.api.post('/v1/agents', {
    ...{ id: 'asked', task: 'first', mode: 'conversation' },
    ...files.settings(asks),
  });
  const waits = uniqueId('w');
  await own.api.post(`/v1/sessions/${waits}/local/0/exec`, { code: 'read -r x', yield: QUICK_YIELD });
  const before = async (): Promise<boolean> => {
    const items = await inbox();
    return items.length === 2 && items.every(({ approval, session }) => approval ?? session);
  };
  await until(before);
  const { pid } = runningWorker(engine.dataDir)?.identity ?? { pid: 0 };
  process.kill(pid, 'SIGSTOP');
  try {
    const items = await inbox();
    expect(items.map(({ kind, agent, text }) => [kind, agent, text]).sort()).toEqual([
      ['approval', 'asked', expect.stringMatching(/waits for approval, and its worker does not answer now$/)],
      ['input', waits, 'shell 0 on local waits for input, and its worker does not answer now'],
    ]);
    for (const { since } of items) expect(Date.now() - Date.parse(since)).toBeGreaterThan(0);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await until(before);
}, 60_000);

test('an agent that was started again after a failure delays nobody: the run that failed says why', async () => {
  const broken = join(files.directory, 'broken.yaml');
  writeFileSync(broken, stringify([{ fail: 'model_auth' }]));
  const agent = uniqueId('again');
  await own.api.post('/v1/agents', { id: agent, task: 'x', model: `scripted:${broken}` });
  const why = await engine.client
    .agent(agent)
    .result()
    .catch((err: unknown) => err as HoldfastError);
  await own.api.post('/v1/agents', { id: agent, mode: 'conversation', ...files.settings([{ text: 'x' }]) });
  const found = async (): Promise<InboxItem | undefined> =>
    (await inbox()).find((item) => item.agent === agent);
  await until(async () => (await found())?.failure !== undefined);
  expect(await found()).toMatchObject({ kind: 'failed', failure: { code: (why as HoldfastError).code } });
}, 60_000);

test('a host whose namespace is gone hides nothing of what waits elsewhere, and is named', async () => {
  const waits = uniqueId('w');
  await own.api.post(`/v1/sessions/${waits}/local/0/exec`, { code: 'read -r x', yield: QUICK_YIELD });
  const host = await engine.client.temporal.workflow.start(WORKFLOWS.host, {
    ...{ workflowId: hostWorkflowId('gone'), taskQueue: 'nobody' },
    memo: { [HOST_NAMESPACE_MEMO]: 'deleted' },
  });
  try {
    const read = (): Promise<{ items: InboxItem[]; unread: string[] }> => own.api.get('/v1/inbox');
    await until(async () => (await read()).unread.includes('deleted'));
    await until(async () => (await read()).items.some(({ agent }) => agent === waits));
  } finally {
    await host.terminate('test ended');
  }
}, 60_000);
