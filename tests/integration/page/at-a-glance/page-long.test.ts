// A long conversation on the page.
import type { AgentOverview } from '../../../../contracts/agents/agent';
import { uniqueId } from '../../../helpers/engines/temporal';
import { pageSetting } from '../../../helpers/gateway/console';
import { longConversation } from '../../../helpers/gateway/long-conversation';
import { tellEvents } from '../../../helpers/gateway/made-up-stream';

const setting = pageSetting();
const STEPS = 1_000;
/** On two cores it is 0.6 s; 201 steps took nine before they were drawn together. */
const MOST_CPU_S = 2;

test('a conversation of 1,000 steps opens at its end in little time, with numbered steps and ways to those that failed', async () => {
  const agent = uniqueId('long');
  await setting.operator.post('/v1/agents', {
    ...{ id: agent, mode: 'conversation' },
    ...setting.files.settings([{ text: 'x' }]),
  });
  const state = await setting.operator.get<AgentOverview>(`/v1/agents/${agent}`);
  const opened = await setting.open();
  const { page } = opened;
  await tellEvents(page, agent, longConversation(STEPS, state));
  const metrics = await page.context().newCDPSession(page);
  await metrics.send('Performance.enable');
  const cpuSeconds = async (): Promise<number> => {
    const { metrics: all } = await metrics.send('Performance.getMetrics');
    return all.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  };
  const before = await cpuSeconds();
  await opened.goto(`agents/${agent}`);
  const answer = page.getByText('All of it was looked at.');
  await answer.waitFor();
  const took = (await cpuSeconds()) - before;
  expect({ took, isQuick: took < MOST_CPU_S }).toMatchObject({ isQuick: true });
  const box = await answer.boundingBox();
  expect(box?.y).toBeLessThan(900);
  expect(await page.locator('.place').count()).toBeLessThan(100);
  const number = page.locator('.message', { hasText: 'Look 1000' }).locator('.step-number');
  expect(await number.innerText()).toBe('1000');
  await page.getByRole('link', { name: 'step 950' }).click();
  await page.locator('.message', { hasText: 'Look 950' }).waitFor();
  await page.getByRole('button', { name: /later messages of/ }).waitFor();
  await page.getByRole('link', { name: 'beginning' }).click();
  await page.getByText('Look at everything.').waitFor();
  expect(await opened.barriers()).toEqual([]);
  await page.getByRole('link', { name: 'end', exact: true }).click();
  await answer.waitFor();
  expect(opened.faults).toEqual([]);
  await opened.close();
});
