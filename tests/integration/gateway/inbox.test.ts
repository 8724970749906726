// The inbox while what waits cannot answer.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InboxItem } from '../../../contracts/gateway/api';
import type { Gateway } from '../../../gateway/gateway';
import { runningWorker } from '../../../workers/process/worker-record';
import { EngineOfItsOwn } from '../../helpers/engine-of-its-own';
import { ApiClient, gatewayOn } from '../../helpers/gateway';
import { call, QUICK_YIELD, scratch, uniqueId } from '../../helpers/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const files = scratch();
let gateway: Gateway;
let operator: ApiClient;
beforeAll(async () => {
  mkdirSync(engine.dataDir, { recursive: true });
  writeFileSync(join(engine.dataDir, 'holdfast.toml'), '[policy.agents]\nasked = "ask"\n');
  await engine.start();
  gateway = await gatewayOn(engine);
  operator = await ApiClient.of(gateway, 'operator');
}, 60_000);
afterAll(async () => {
  await gateway.close();
  files.remove();
  expect(await engine.end()).toEqual([]);
}, 60_000);

const inbox = async (): Promise<InboxItem[]> =>
  (await operator.get<{ items: InboxItem[] }>('/v1/inbox')).items;

test('what waits for a person stays in the inbox while its worker hangs, and is told as what cannot be answered now', async () => {
  const asks = [
    { text: call('code_execution_tool', { runtime: 'terminal', code: 'rm -rf build' }) },
    { text: 'over' },
  ];
  await operator.post('/v1/agents', {
    ...{ id: 'asked', task: 'first', mode: 'conversation' },
    ...files.settings(asks),
  });
  const waits = uniqueId('w');
  await operator.post(`/v1/sessions/${waits}/local/0/exec`, { code: 'read -r x', yield: QUICK_YIELD });
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
