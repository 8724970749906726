// What calls ran and how they ended, at a glance; and answering one card after the other.
import { call, QUICK_YIELD, uniqueId } from '../../../helpers/engines/temporal';
import { pageSetting } from '../../../helpers/gateway/console';

const setting = pageSetting();

test('the line of a call shows its command and exit code, which is marked if it is not zero', async () => {
  const agent = uniqueId('calls');
  const shell = (...command: string[]): { text: string } => ({ text: call('shell', { command }) });
  await setting.operator.post('/v1/agents', {
    ...{ id: agent, mode: 'conversation', task: 'Try it.' },
    ...setting.files.settings([
      shell('echo', 'all is', 'well'),
      shell('bash', '-c', 'exit 3'),
      { text: 'Both were tried.' },
    ]),
  });
  const opened = await setting.open();
  const { page } = opened;
  await opened.goto(`agents/${agent}`);
  await page.getByText('Both were tried.').waitFor();
  const lines = page.locator('.call summary');
  expect(await lines.allInnerTexts()).toEqual([
    expect.stringMatching(/shell\s+echo 'all is' well\s+exit 0$/),
    expect.stringMatching(/shell\s+exit 3\s+exit 3$/),
  ]);
  expect(await page.locator('.call.failed').count()).toBe(1);
  expect(await opened.barriers()).toEqual([]);
  expect(opened.faults).toEqual([]);
  await opened.close();
});

test('after an answer the focus is on the next card of the inbox', async () => {
  const agents = [uniqueId('first'), uniqueId('second')];
  for (const agent of agents)
    await setting.operator.post(`/v1/sessions/${agent}/local/0/exec`, {
      code: "read -p 'Go on? ' x; sleep 60",
      yield: { ...QUICK_YIELD, promptMs: 100 },
    });
  const opened = await setting.open();
  const { page } = opened;
  const [first, second] = agents.map((agent) => page.getByRole('article').filter({ hasText: agent }));
  if (!first || !second) throw new Error('there are two');
  await second.waitFor();
  await first.getByRole('textbox', { name: 'Answer' }).fill('yes');
  await page.keyboard.press('Enter');
  await first.waitFor({ state: 'detached' });
  await page.waitForFunction(
    `document.activeElement?.getAttribute('aria-label')?.startsWith(${JSON.stringify(agents[1])})`,
  );
  expect(await opened.barriers()).toEqual([]);
  expect(opened.faults).toEqual([]);
  await opened.close();
});
