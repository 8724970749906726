// Approvals on the page in real Chromium: what is shown is what is approved.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import type { AgentState } from '../../../contracts/agents/agent';
import type { KeyedApproval } from '../../../contracts/gateway/api';
import { pageSetting, type ConsolePage } from '../../helpers/gateway/console';
import { call, uniqueId } from '../../helpers/engines/temporal';
import { holderRecord } from '../../helpers/terminals/holder-record';
import { until } from '../../helpers/until';

const setting = pageSetting({ config: '[policy.tools]\ninput = "ask"\nwrite_file = "ask"\n' });

const PATIENT = { maxMs: 600_000, firstOutputMs: 600_000, betweenOutputMs: 600_000 };

const cardOf = ({ page }: ConsolePage, agent: string): Locator =>
  page.getByRole('article').filter({ hasText: agent });
const approveIn = (card: Locator): Locator => card.getByRole('button', { name: 'Approve' });

async function waitingOf(agent: string): Promise<KeyedApproval | undefined> {
  const { items } = await setting.operator.get<{ items: KeyedApproval[] }>(`/v1/approvals?agent=${agent}`);
  return items[0];
}

test('a call whose arguments may be a password is approved on the page, which does not show them', async () => {
  const agent = uniqueId('types');
  const code = `read -sp 'Password: ' x; echo "got \${#x}"`;
  await setting.operator.post('/v1/agents', {
    ...{ id: agent, task: 'go' },
    ...setting.files.settings([
      { text: call('code_execution_tool', { runtime: 'terminal', code }) },
      { text: call('input', { session: 0, keyboard: 'hunter2' }) },
      { expect: 'got 7', text: 'typed' },
    ]),
  });
  const opened = await setting.open();
  const card = cardOf(opened, agent).filter({ has: opened.page.getByText('tool input') });
  await card.getByText('7 characters are not shown').waitFor();
  expect(await card.innerText()).not.toContain('hunter2');
  await until(() => approveIn(card).isEnabled());
  await approveIn(card).click();
  await until(async () => {
    const { lastResult } = await setting.operator.get<AgentState>(`/v1/agents/${agent}`);
    return lastResult?.answer === 'typed';
  });
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a long command that is asked about again for another folder is shown with that folder before it can be approved', async () => {
  const agent = uniqueId('moves');
  const session = `/v1/sessions/${agent}/local/0`;
  const folder = join(setting.files.directory, 'before');
  mkdirSync(folder);
  await setting.operator.post(`${session}/exec`, { code: `cd ${folder}`, yield: PATIENT });
  const code = `${'# a comment\n'.repeat(2_000)}echo "now in $PWD"\nfalse && curl http://127.0.0.1:9 | sh`;
  const running = setting.operator.post(`${session}/exec`, { code, yield: PATIENT });
  const opened = await setting.open();
  const card = cardOf(opened, agent);
  await until(() => approveIn(card).isEnabled());
  await card.getByText(folder, { exact: true }).waitFor();
  const first = await waitingOf(agent);
  process.kill(holderRecord(setting.engine, { agent, host: 'local', session: 0 }).identity.pid, 'SIGKILL');
  await approveIn(card).click();
  let again: KeyedApproval | undefined;
  await until(async () => {
    again = await waitingOf(agent);
    return again !== undefined && again.hash !== first?.hash;
  });
  await card.getByText(again?.hash ?? 'no hash').waitFor();
  expect(await card.getByText(folder, { exact: true }).count()).toBe(0);
  await until(() => approveIn(card).isEnabled());
  await approveIn(card).click();
  expect(await running).toMatchObject({ output: expect.stringContaining('now in ') as string });
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('names in an approval that come from a model are shown with what cannot be seen in them', async () => {
  const agent = uniqueId('names');
  await setting.operator.post('/v1/agents', {
    ...{ id: agent, task: 'go' },
    ...setting.files.settings([
      { text: call('write_file', { file_path: 'x', content: 'y', 'con\u202etent': 'z' }) },
      { text: 'done' },
    ]),
  });
  const opened = await setting.open();
  const card = cardOf(opened, agent);
  await card.locator('p.name mark', { hasText: 'U+202E' }).waitFor();
  await card.getByRole('region', { name: 'conU+202Etent of' }).waitFor();
  await card.getByRole('button', { name: 'Deny' }).click();
  await card.waitFor({ state: 'detached' });
  await opened.goto(`agents/${agent}`);
  const folded = opened.page.getByRole('log').locator('details.call');
  await folded.locator('summary').click();
  await folded.locator('p.name mark', { hasText: 'U+202E' }).waitFor();
  expect(opened.faults).toEqual([]);
  await opened.close();
});
