// A long conversation that is summarised between two runs, which may take an hour.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentHandle } from '../../../../client/agents/agent-handle';
import { HoldfastError } from '../../../../contracts/errors/holdfast-error';
import type { ModelRequest } from '../../../../models/provider';
import { HoldfastTestEnvironment, simulatedHost } from '../../../../testing';
import { until } from '../../../helpers/until';
import { isSummary, textsOf } from './model-requests';

let env: HoldfastTestEnvironment;
beforeAll(async () => {
  env = await HoldfastTestEnvironment.createLocal({ host: simulatedHost({ true: '' }) });
}, 60_000);
afterAll(() => env.close());

interface SummedUp {
  agent: AgentHandle;
  /** Of the run that is summarised; its summary has begun. */
  runId: string;
  end: () => void;
}

/** @param reply answers all but the first request for a summary, which waits for `end` */
async function summedUp(id: string, reply: (request: ModelRequest) => string): Promise<SummedUp> {
  const large = 'x'.repeat(400_000);
  const begun = new AbortController();
  const ended = new AbortController();
  const model = env.model({
    reply: async (request) => {
      if (!isSummary(request) || begun.signal.aborted) return { text: reply(request) };
      begun.abort();
      if (!ended.signal.aborted) await once(ended.signal, 'abort');
      return { text: 'What came before.' };
    },
  });
  const agent = env.agent(id);
  await agent.start({ mode: 'conversation', model });
  const { runId } = await agent.ownState();
  for (let n = 0; !begun.signal.aborted; n++)
    await Promise.race([
      once(begun.signal, 'abort'),
      agent.send(`message ${n} ${large}`).then(() => delay(500)),
    ]);
  return { agent, runId, end: () => ended.abort() };
}

const isQueued = async (agent: AgentHandle): Promise<boolean> => (await agent.ownState()).queued > 0;

test('a message that comes while a long conversation is summarised is taken and answered, and costs no second summary', async () => {
  let last: ModelRequest | undefined;
  const { agent, runId, end } = await summedUp('takes-meanwhile', (request) => {
    last = request;
    return isSummary(request) ? 'a second summary' : 'heard';
  });
  const answered = agent.send('in between');
  await until(() => isQueued(agent));
  const rewound = agent.workspace.rewind(1, { what: 'conversation' });
  await expect(rewound).rejects.toMatchObject({ code: 'agent_working' });
  end();
  expect(await answered).toMatchObject({ answer: 'heard' });
  expect(await agent.send('the last')).toMatchObject({ answer: 'heard' });
  expect((await agent.ownState()).runId).not.toBe(runId);
  expect(textsOf(last as ModelRequest)).toMatch(/What came before\.[^]*in between[^]*the last/);
  expect(textsOf(last as ModelRequest)).not.toContain('a second summary');
  await agent.stop();
  await agent.result();
}, 90_000);

test('a turn in between that sums up, too, is carried to the next run with what followed its summary', async () => {
  let last: ModelRequest | undefined;
  const { agent, runId, end } = await summedUp('sums-up-twice', (request) => {
    last = request;
    if (isSummary(request)) return 'By the turn.';
    const text = textsOf(request);
    if (text.includes('in between') && !text.includes('By the turn.'))
      throw new HoldfastError('model_context_length', { model: 'm', got: 400, reason: 'too many tokens' });
    return text.includes('By the turn.') ? 'said after it' : 'heard';
  });
  const answered = agent.send('in between');
  await until(() => isQueued(agent));
  end();
  expect(await answered).toMatchObject({ answer: 'said after it' });
  await until(async () => (await agent.ownState()).runId !== runId);
  await agent.send('the last');
  expect(textsOf(last as ModelRequest)).toMatch(/By the turn\.[^]*said after it[^]*the last/);
  await agent.stop();
  await agent.result();
}, 90_000);

test('an agent that is recovered while its conversation is summarised resets its sessions at once, and goes on', async () => {
  const { agent, end } = await summedUp('recovers-meanwhile', () => 'heard');
  const session = env.client.session({ agent: agent.id, host: 'local', session: 0 });
  const { epoch } = await session.exec({ code: 'true' });
  const recovered = Promise.all([agent.recover('it hangs'), agent.recover('it still hangs')]);
  recovered.catch(() => undefined);
  try {
    await until(async () => (await session.state()).epoch > epoch);
    await recovered;
  } finally {
    end();
  }
  expect(await session.exec({ code: 'true' })).toMatchObject({ epoch: epoch + 1, freshShell: true });
  expect(await agent.send('more')).toMatchObject({ answer: 'heard' });
  await agent.stop();
  await agent.result();
}, 90_000);
