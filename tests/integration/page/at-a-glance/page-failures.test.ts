// Agents that stopped without what was asked for, on the page.
import { call, uniqueId } from '../../../helpers/engines/temporal';
import { pageSetting } from '../../../helpers/gateway/console';

const setting = pageSetting();
const { files } = setting;
const step = { text: call('list_dir', { dir_path: '/' }) };

/** A conversation that stops at its first step. */
async function limited(agent: string): Promise<void> {
  await setting.operator.post('/v1/agents', {
    ...{ id: agent, mode: 'conversation', task: 'Look around.', limits: { steps: 1 } },
    ...files.settings([step, { text: 'All is well.' }]),
  });
}

test('a conversation that stopped at its limit is red in the list, and goes on by a message from the inbox', async () => {
  const agent = uniqueId('stopped');
  await limited(agent);
  const opened = await setting.open();
  const { page } = opened;
  const card = page.getByRole('article').filter({ hasText: agent });
  await card.getByText('The turn took as many steps as it may').waitFor();
  expect(await opened.barriers()).toEqual([]);
  await opened.goto('agents');
  const row = page.getByRole('link', { name: agent });
  await row.locator('.state.failed').waitFor();
  await row.getByText('No answer: it took as many steps as it may').waitFor();
  expect(await opened.barriers()).toEqual([]);
  await opened.goto('inbox');
  await card.getByRole('textbox').fill('And now answer.');
  await card.getByRole('button', { name: 'Send' }).click();
  await card.waitFor({ state: 'detached' });
  await opened.goto(`agents/${agent}`);
  await page.getByText('And now answer.').waitFor();
  await page.getByText('All is well.').waitFor();
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('a failure that was dismissed is gone from the inbox, also after the page was loaded again', async () => {
  const agent = uniqueId('dismissed');
  await limited(agent);
  const opened = await setting.open();
  const { page } = opened;
  const card = page.getByRole('article').filter({ hasText: agent });
  await card.getByRole('button', { name: 'Dismiss' }).click();
  await card.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
  await opened.goto(`agents/${agent}`);
  await page.getByText('The last turn has ended without an answer').waitFor();
  expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(0);
  expect(opened.faults).toEqual([]);
  await opened.close();
});
