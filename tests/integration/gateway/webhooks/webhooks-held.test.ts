// A receiver that says when to ask again, or that it wants no more: spatie/laravel-webhook-server#47.
import { GatewayOfItsOwn } from '../../../helpers/gateway/gateway-of-its-own';
import { uniqueId } from '../../../helpers/engines/temporal';
import { until } from '../../../helpers/until';
import { WebhookReceiver } from '../../../helpers/services/webhook-receiver';

jest.setTimeout(200_000);

const own = new GatewayOfItsOwn();
const receivers: WebhookReceiver[] = [];
beforeAll(() => own.start({ config: '[fetch]\nallow_private = ["127.0.0.1"]\n', role: 'admin' }), 120_000);
afterAll(() => own.end(), 120_000);
afterAll(() => Promise.all(receivers.map((receiver) => receiver.close())), 120_000);

/** A webhook of the agent, which ends at once, with its event refused. */
async function refused(answer: Partial<WebhookReceiver>): Promise<{ id: string; receiver: WebhookReceiver }> {
  const agent = uniqueId('held');
  const receiver = Object.assign(await WebhookReceiver.start(), answer);
  receivers.push(receiver);
  const body = { url: receiver.url, agents: [agent], events: ['agent.ended'] };
  const { id, secret } = await own.api.post<{ id: string; secret: string }>('/v1/webhooks', body);
  receiver.secret = secret;
  await own.api.post('/v1/agents', { id: agent, task: 'x', ...own.files.settings([{ text: 'done' }]) });
  await until(() => receiver.asked.length > 0, 60_000);
  return { id, receiver };
}

const failingOf = async (id: string): Promise<string> => {
  const { items } = await own.api.get<{ items: { id: string; failing: { reason: string } | null }[] }>(
    '/v1/webhooks',
  );
  return items.find((one) => one.id === id)?.failing?.reason ?? '';
};
const sendTest = (id: string): Promise<{ id: string }> => own.api.post(`/v1/webhooks/${id}/test`, {});

test('a receiver that answers 410 is sent nothing but tests, and all that waited once it takes one', async () => {
  const { id, receiver } = await refused({ status: 410 });
  await until(async () => (await failingOf(id)).includes('it is gone'));
  const { id: vain } = await sendTest(id);
  await until(() => receiver.asked.includes(vain));
  expect(receiver.asked).toHaveLength(2);
  receiver.status = 204;
  const { id: taken } = await sendTest(id);
  await until(() => receiver.events.length === 3, 60_000);
  expect(receiver.events.map((event) => event.id).sort()).toEqual(
    [taken, vain, String(receiver.asked[0])].sort(),
  );
  await until(async () => (await failingOf(id)) === '');
});

const PAUSE_MS = 6_000;
test.each([
  ['seconds', () => String(PAUSE_MS / 1_000)],
  ['a date', () => new Date(Date.now() + PAUSE_MS).toUTCString()],
])('until the time of Retry-After, in %s, nothing is sent to that receiver', async (_form, retryAfter) => {
  const { id, receiver } = await refused({ status: 429, retryAfter });
  const refusedAt = Date.now();
  receiver.status = 204;
  await until(async () => (await failingOf(id)).includes('asks for a pause: nothing is sent until'));
  await sendTest(id);
  await until(() => receiver.events.length === 2, 60_000);
  expect(receiver.asked).toHaveLength(3);
  // A date has no parts of a second; and the request was seen a moment after it was refused.
  expect(Date.now() - refusedAt).toBeGreaterThan(PAUSE_MS - 1_500);
});
