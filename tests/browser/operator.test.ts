// What an operator sees and does using only Temporal's web UI, and its actual effect.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import type { HoldfastClient } from '../../client/holdfast-client';
import type { SessionHandle } from '../../client/session-handle';
import { UI_VIEWS, uiViewUrl } from '../../contracts/agents/ui-views';
import { longTest } from '../helpers/run/long-run';
import { call, QUICK_YIELD, scratch, testClient, uniqueId, type Scratch } from '../helpers/engines/temporal';
import { until } from '../helpers/until';
import { fileNeeds } from '../helpers/run/programs';
import { WebUi } from '../helpers/gateway/web-ui';

const STACK = /\bat \S+ \(|\.[jt]s:\d+/;
fileNeeds('chromium');

describe('in the web UI', () => {
  let client: HoldfastClient;
  let files: Scratch;
  let ui: WebUi;

  beforeAll(async () => {
    client = await testClient();
    files = scratch();
    ui = await WebUi.open();
  });
  afterEach(() => ui.picture(`end of ${expect.getState().currentTestName}`));
  afterAll(async () => {
    await ui.close();
    await client.close();
    files.remove();
  });

  const replies = (code: string, answer: string): string =>
    files.model([
      {
        text: call(
          'code_execution_tool',
          { runtime: 'terminal', session: 1, code },
          'Install \u001b[31mthe <b>dependencies</b>',
        ),
      },
      {
        text: call(
          'code_execution_tool',
          { runtime: 'output', session: 1, wait: 'exit', wait_ms: 600_000 },
          'Wait for a person',
        ),
      },
      { text: answer },
    ]);

  async function waitingSession(code: string): Promise<SessionHandle> {
    const session = client.session(
      { agent: uniqueId('op'), session: 0 },
      { cwd: files.directory, yield: QUICK_YIELD },
    );
    expect(await session.exec({ code })).toMatchObject({ state: 'waiting_input' });
    return session;
  }

  test('an operator starts an agent, finds the session that waits, answers it, and reads the answer', async () => {
    const id = uniqueId('op');
    const model = replies(
      'read -r -p "Install? [Y/n]: " a; echo "agreed: $a" | tee agreed',
      'All is installed.',
    );
    await ui.goto(`/start-workflow?taskQueue=holdfast&workflowType=agent&workflowId=agent%2F${id}`);
    await ui.start(JSON.stringify({ task: 'Install it', model, cwd: files.directory, yield: QUICK_YIELD }));

    for await (const { message } of client.agent(id).follow()) {
      if (message.role === 'assistant' && JSON.stringify(message).includes('Wait for a person')) break;
    }
    await ui.openWorkflow(`agent/${id}`);
    await ui.seeDetails('Working');
    await ui.picture('agent');
    const turnTab = ui.page.waitForEvent('popup');
    await ui.details.getByRole('link', { name: `agent/${id}/turn/1` }).click();
    await (await turnTab).getByRole('heading', { name: `agent/${id}/turn/1` }).waitFor();
    await (await turnTab).close();

    await ui.openWorkflow(`agent/${id}/turn/1`);
    const seen = await ui.seeDetails('Wait for a person');
    await ui.picture('turn');
    expect(seen).toContain('Step 2 of at most 100: Wait for a person');
    expect(seen).toMatch(new RegExp(`exec/${id}/local/1: waiting for input at step 1; in use by this step`));
    await ui.openTab('Timeline');
    await ui.page.getByText('Install the <b>dependencies</b>').waitFor();
    await ui.picture('turn-timeline');

    await ui.openWorkflow(`exec/${id}/local/1`);
    expect(await ui.seeDetails('Waiting for input')).toContain('with {"keyboard":"Y"}');
    await ui.picture('session');
    await ui.signal('input', '{"keyboard":"Y"}');
    expect(await client.agent(id).result()).toMatchObject({ answer: 'All is installed.' });
    expect(readFileSync(join(files.directory, 'agreed'), 'utf8')).toBe('agreed: Y\n');

    await ui.openWorkflow(`agent/${id}`);
    await ui.seeDetails('All is installed.');
    await ui.picture('agent-ended');
    await ui.goto(`?query=${encodeURIComponent(`HoldfastAgent="${id}"`)}`);
    for (const workflowId of [`agent/${id}`, `agent/${id}/turn/1`, `exec/${id}/local/1`]) {
      await ui.page.getByRole('link', { name: workflowId, exact: true }).waitFor();
    }
    await ui.picture('list');
  }, 90_000);

  test('the link of a view lists who waits and saves the view in this browser; who has been answered is gone', async () => {
    const session = await waitingSession('read -r x; sleep 1000');
    const other = await waitingSession('read -r y');
    const [view] = UI_VIEWS;
    const uiUrl = process.env.HOLDFAST_TEST_UI ?? '';
    const linkTo = ({ workflowId }: SessionHandle): Locator =>
      ui.page.getByRole('link', { name: workflowId, exact: true });
    const link = linkTo(session);
    const count = async ({ workflowId }: SessionHandle): Promise<number> =>
      (await client.temporal.workflow.count(`${view.query} AND WorkflowId="${workflowId}"`)).count;
    for (const one of [session, other]) await until(async () => (await count(one)) === 1);
    await ui.page.goto(uiViewUrl(view, { uiUrl, namespace: 'default', saved: true }));
    await link.waitFor();
    await ui.picture('view');
    await session.input({ keyboard: 'y' });
    await until(async () => (await count(session)) === 0);
    await ui.goto('');
    await ui.page.getByTestId('waits-for-somebody').click();
    await linkTo(other).waitFor();
    expect(await link.count()).toBe(0);
    await ui.picture('view-saved');
    expect(new URL(ui.page.url()).searchParams.get('query')).toBe(view.query);
    await Promise.all([session, other].map((one) => one.close('seen')));
  }, 60_000);

  longTest(
    'a poll makes the query output and the details of a waiting session fresh',
    async () => {
      const session = await waitingSession('echo first; read -r x; echo "second $x"; read -r y');
      await ui.openWorkflow(session.workflowId);
      await session.input({ keyboard: 'go' });
      await session.output({ wait: 'pattern:second go' });
      await ui.signal('poll');
      await ui.seeDetails('second go');
      await ui.query('output', 'second go');
      await ui.page.getByText('waiting_input').waitFor();
      await ui.picture('query');
      await session.close('seen');
    },
    60_000,
  );

  test('a reset ends what runs and keeps the session; cancelling the workflow ends both', async () => {
    const session = await waitingSession('read -r x; touch went-on');
    await ui.openWorkflow(session.workflowId);
    await ui.signal('reset', '{"reason":"it hangs"}');
    expect(await session.output({ wait: 'exit' })).toMatchObject({
      killedBy: { by: 'reset', reason: 'it hangs' },
    });
    await ui.seeDetails('Ended by reset: it hangs');
    await ui.picture('session-reset');

    expect(await session.exec({ code: 'echo again; read -r x' })).toMatchObject({
      freshShell: true,
      epoch: 2,
    });
    await ui.cancel();
    await session.closed();
    expect(await session.state()).toMatchObject({ status: 'closed', view: { killedBy: { by: 'closed' } } });
    await ui.openWorkflow(session.workflowId);
    await ui.page.getByText('Canceled', { exact: true }).first().waitFor();
    await ui.picture('session-cancelled');
    expect(existsSync(join(files.directory, 'went-on'))).toBe(false);
  }, 60_000);

  test('a malformed update is refused with what is allowed, and without a stack', async () => {
    const session = await waitingSession('read -r x');
    await ui.openWorkflow(session.workflowId);
    const answer = ui.page.waitForResponse(/\/update\/input/);
    const dialog = await ui.update('input', '{"keyboards":"Y"}');
    await dialog.getByText('unknown keys keyboards').waitFor();
    await ui.picture('refusal');
    expect(await dialog.innerText()).not.toMatch(STACK);
    expect(await (await answer).text()).not.toMatch(STACK);
    await session.close('seen');
  }, 60_000);
});
