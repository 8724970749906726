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
    expect(await own.api.get('/v1/approvals')).toEqual({
      ...{ items: [], next: null, unanswered: [stray], unread: [] },
    });
    const { code, stdout, stderr } = await engine.cliInTurn(['approve', '--list']);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/These sessions and turns do not answer: exec\/stray\/local\/0 \(\w+\)/);
    const forPrograms = await engine.cliInTurn(['approve', '--list', '--json']);
    expect([forPrograms.code, JSON.parse(forPrograms.stdout)]).toEqual([0, []]);
    expect(JSON.parse(forPrograms.stderr)).toEqual({ unanswered: [expect.stringContaining(stray)] });
  }, 60_000);

  test('keeps approve and deny from taking the only approval that is known for the one that is meant; its whole id says so', async () => {
    const session = engine.client.session({ agent: 'asked', session: 0 }, { cwd: files.directory });
    const running = session.exec({ code: 'echo approved', id: 'known' });
    running.catch(() => undefined);
    await until(
      async () => (await engine.client.approvals.of(session.workflowId).catch(() => [])).length > 0,
    );
    for (const args of [['approve'], ['deny'], ['approve', 'kno']]) {
      const { code, stdout, stderr } = await engine.cliInTurn(args);
      expect([code, stdout]).toEqual([66, '']);
      expect(stderr).toMatch(
        /approval_unknown: .*exec\/stray\/local\/0 \(\w+\), allowed a whole id, such as known/,
      );
    }
    expect((await engine.cliInTurn(['approve', 'known'])).code).toBe(0);
    expect((await running).output).toBe('approved\n');
  }, 120_000);

  test('may have a script’s call with the same id: which session is meant is said with it', async () => {
    const session = engine.client.session({ agent: 'asked', session: 1 }, { cwd: files.directory });
    const isWaiting = (id: string): Promise<void> =>
      until(async () => {
        const waiting = await engine.client.approvals.of(session.workflowId).catch(() => []);
        return waiting.some((one) => one.id === id);
      });
    const running = session.exec({ code: 'tool shell --command "echo by a tool"', id: 'calls' });
    running.catch(() => undefined);
    await isWaiting('calls');
    expect((await engine.cliInTurn(['approve', 'calls'])).code).toBe(0);
    await isWaiting('e1c1');
    for (const name of ['approve', 'deny']) {
      const { code, stderr } = await engine.cliInTurn([name, 'e1c1']);
      expect([code, stderr]).toEqual([66, expect.stringMatching(/exec\/stray.*this id with its `--agent`/)]);
    }
    const named = ['e1c1', '--agent', 'asked', '--host', 'local', '--session', '1'];
    expect((await engine.cliInTurn(['deny', ...named])).code).toBe(0);
    expect((await running).output).toContain('approval_denied');
  }, 120_000);

  test('is neither asked nor named for a token that may not see its agent', async () => {
    const limited = await ApiClient.of(own.gateway, 'viewer', ['zzz*']);
    expect(await limited.get('/v1/approvals')).toEqual({
      ...{ items: [], next: null, unanswered: [], unread: [] },
    });
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

test('a host whose namespace is gone hides nothing of what is elsewhere, is named, and can be forgotten', async () => {
  const waits = uniqueId('w');
  await own.api.post(`/v1/sessions/${waits}/local/0/exec`, { code: 'read -r x', yield: QUICK_YIELD });
  const host = await engine.client.temporal.workflow.start(WORKFLOWS.host, {
    ...{ workflowId: hostWorkflowId('gone'), taskQueue: engine.client.server.queue },
    args: [{ namespace: 'deleted' }],
    memo: { [HOST_NAMESPACE_MEMO]: 'deleted' },
  });
  const read = <T>(path: string): Promise<{ items: T[]; unread: string[] }> => own.api.get(path);
  await until(async () => (await read('/v1/inbox')).unread.includes('deleted'));
  await until(async () => (await read<InboxItem>('/v1/inbox')).items.some(({ agent }) => agent === waits));
  const sessions = await read<{ agent: string }>('/v1/sessions');
  expect(sessions).toMatchObject({ unread: ['deleted'] });
  expect(sessions.items.map(({ agent }) => agent)).toContain(waits);
  expect(await read('/v1/approvals')).toMatchObject({ unread: ['deleted'] });
  const listed = await engine.cli(['ps']);
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining(waits) as string });
  expect(listed.stdout).toContain('their namespaces cannot be read (deleted)');
  expect(await engine.client.approvals.list(waits)).toEqual([]);
  const { items } = await read<{ host: string; status: string }>('/v1/hosts');
  expect(items).toContainEqual(expect.objectContaining({ host: 'gone', status: 'offline' }));
  expect(await engine.cli(['host', 'forget', 'gone'])).toMatchObject({ code: 0 });
  await host.result();
  await until(async () => (await read('/v1/inbox')).unread.length === 0);
}, 60_000);
