// Days of waiting in seconds: on the time-skipping server, with a host that runs nothing.
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { simulatedHost, HoldfastTestEnvironment, scriptedModel, toolCall } from '../../../testing';

const HOUR_MS = 3_600_000;
const isMissing = !process.env.HOLDFAST_TEST_SERVER;
const host = simulatedHost({ true: '' });
let env: HoldfastTestEnvironment;

beforeAll(async () => {
  if (!isMissing) env = await HoldfastTestEnvironment.createTimeSkipping({ host });
}, 60_000);

afterAll(async () => {
  if (!isMissing) await env.close();
});

/** Without the server these are listed as not checked; the global setup says why it is missing. */
const skippingTest = isMissing ? test.skip : test;

async function hoursOf(workflowId: string): Promise<number> {
  const { startTime, closeTime } = await env.temporal.client.workflow.getHandle(workflowId).describe();
  return ((closeTime?.getTime() ?? 0) - startTime.getTime()) / HOUR_MS;
}

skippingTest(
  'a session closes itself after its idle limit, counted from its last command, and not before',
  async () => {
    const session = env.session({ agent: 'idle', session: 0 }, { idleMs: 24 * HOUR_MS });
    await session.exec({ code: 'true' });
    await env.sleep(20 * HOUR_MS);
    await session.exec({ code: 'true' });
    await session.closed();
    const hours = await hoursOf(session.workflowId);
    expect(hours).toBeGreaterThan(43.9);
    // It checks again after at most a tenth of the limit.
    expect(hours).toBeLessThan(47);
    expect(host.closed).toEqual([{ ...session.ref, reason: 'it was idle for too long' }]);
  },
);

skippingTest('a conversation without a message ends at its idle limit', async () => {
  const agent = env.agent('silent');
  await agent.start({ mode: 'conversation', model: env.model(scriptedModel([])), idleMs: 3 * HOUR_MS });
  await agent.result();
  expect(await hoursOf(agent.workflowId)).toBeCloseTo(3, 1);
});

skippingTest(
  'a model that stays malformed is asked once and repaired as often as the limit says',
  async () => {
    const cut = toolCall('code_execution_tool', { runtime: 'terminal', code: 'true' }).slice(0, -2);
    const model = scriptedModel([cut, cut, cut, cut]);
    const agent = env.agent('malformed');
    await agent.start({ task: 'x', model: env.model(model), limits: { formatRepairs: 2 } });
    await expect(agent.result()).rejects.toMatchObject({ code: 'format_error' });
    expect(model.requests).toHaveLength(3);
  },
);

skippingTest(
  'a wait for a sub-agent ends at its time-out, hours later, and asks the model nothing meanwhile',
  async () => {
    // Asked again each hour, as its provider says: no activity runs in between.
    const away = env.model({
      reply: () =>
        Promise.reject(
          new HoldfastError('model_overloaded', { model: 'm', got: 529, reason: 'x', retryAfterMs: HOUR_MS }),
        ),
    });
    const wait = { agent_ids: ['waits-for-away-1'], timeout_ms: 30 * HOUR_MS };
    const model = scriptedModel([
      toolCall('spawn_agent', { role: 'for away', prompt: 'x', model: away }),
      toolCall('wait_for_agents', wait),
      { expect: '"status": "running".*"timedOut": true', text: 'it is still away' },
    ]);
    const agent = env.agent('waits');
    await agent.start({ task: 'x', model: env.model(model), limits: { wallMs: 60 * HOUR_MS } });
    expect(await agent.result()).toMatchObject({ answer: 'it is still away' });
    expect(model.requests).toHaveLength(3);
    expect(await hoursOf('agent/waits')).toBeCloseTo(30, 1);
  },
  30_000,
);
