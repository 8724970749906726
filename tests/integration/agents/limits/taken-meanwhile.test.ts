// A long conversation that is summarised between two runs, which may take an hour.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { ModelRequest } from '../../../../models/provider';
import { HoldfastTestEnvironment, simulatedHost } from '../../../../testing';
import { until } from '../../../helpers/until';
import { isSummary, textsOf } from './model-requests';

let env: HoldfastTestEnvironment;
beforeAll(async () => {
  env = await HoldfastTestEnvironment.createLocal({ host: simulatedHost({ true: '' }) });
}, 60_000);
afterAll(() => env.close());

test('a message that comes while a long conversation is summarised is taken and answered, and costs no second summary', async () => {
  const large = 'x'.repeat(400_000);
  let summaries = 0;
  const begun = new AbortController();
  const ended = new AbortController();
  let last: ModelRequest | undefined;
  const name = env.model({
    reply: async (request) => {
      last = request;
      if (!isSummary(request)) return { text: 'heard' };
      summaries += 1;
      begun.abort();
      if (!ended.signal.aborted) await once(ended.signal, 'abort');
      return { text: 'What came before.' };
    },
  });
  const agent = env.agent('takes-meanwhile');
  await agent.start({ mode: 'conversation', model: name });
  const { runId } = await agent.ownState();
  for (let n = 0; summaries === 0; n++)
    await Promise.race([
      once(begun.signal, 'abort'),
      agent.send(`message ${n} ${large}`).then(() => delay(500)),
    ]);
  const answered = agent.send('in between');
  await until(async () => (await agent.ownState()).queued > 0);
  const rewound = agent.workspace.rewind(1, { what: 'conversation' });
  await expect(rewound).rejects.toMatchObject({ code: 'agent_working' });
  ended.abort();
  expect(await answered).toMatchObject({ answer: 'heard' });
  expect(await agent.send('the last')).toMatchObject({ answer: 'heard' });
  expect((await agent.ownState()).runId).not.toBe(runId);
  expect(textsOf(last as ModelRequest)).toMatch(/What came before\.[^]*in between[^]*the last/);
  expect(summaries).toBe(1);
  await agent.stop();
  await agent.result();
}, 90_000);
