// Webhooks and hosts with a namespace of their own: another trust domain, which may be gone.
import { Client, type WorkflowHandle } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { grpcCode } from '../../../../client/delivery/grpc-code';
import { hostWorkflowId } from '../../../../contracts/ids';
import { HOST_NAMESPACE_MEMO, SEARCH_ATTRIBUTES, WORKFLOWS } from '../../../../contracts/messages';
import { registerSearchAttributes } from '../../../../workers/search-attributes';
import { uniqueId } from '../../../helpers/engines/temporal';
import { GatewayOfItsOwn } from '../../../helpers/gateway/gateway-of-its-own';
import { WebhookReceiver } from '../../../helpers/services/webhook-receiver';
import { until } from '../../../helpers/until';

jest.setTimeout(300_000);

/** gRPC */
const ALREADY_EXISTS = 6;

const own = new GatewayOfItsOwn();
const { engine, files } = own;
const receiver = new WebhookReceiver();
const host = uniqueId('far');
const namespace = uniqueId('far');
let presence: WorkflowHandle;

beforeAll(async () => {
  await receiver.open();
  await own.start({ config: '[fetch]\nallow_private = ["127.0.0.1"]\n', role: 'admin' });
  // Enrolled, in a namespace that is not there.
  presence = await engine.client.temporal.workflow.start(WORKFLOWS.host, {
    ...{ workflowId: hostWorkflowId(host), taskQueue: 'nobody' },
    memo: { [HOST_NAMESPACE_MEMO]: namespace },
  });
  const body = { id: 'all', url: receiver.url };
  ({ secret: receiver.secret } = await own.api.post<{ secret: string }>('/v1/webhooks', body));
}, 120_000);
afterAll(async () => {
  await presence.terminate();
  await receiver.close();
  await own.end();
}, 120_000);

async function endsTurn(): Promise<void> {
  const agent = uniqueId('a');
  await own.api.post('/v1/agents', { id: agent, task: 'x', ...files.settings([{ text: 'done' }]) });
  await receiver.first('turn.ended', agent);
}

test('a host whose namespace is gone holds up no event of others, and its own are sent once it is back', async () => {
  await endsTurn();
  await comesBack();
  await tells('back', new Date());
  await receiver.first('session.lost', 'back');
});

test('a host that tells of a time to come is not heard, and makes no webhook deaf', async () => {
  await comesBack();
  await tells('forged', new Date('2999-01-01T00:00:00Z'));
  // Found, hence the other one, too, which came before.
  await tells('genuine', new Date());
  await receiver.first('session.lost', 'genuine');
  await endsTurn();
  expect(receiver.of('session.lost', 'forged')).toEqual([]);
});

async function comesBack(): Promise<void> {
  const { connection, workflowService } = engine.client.temporal;
  const request = { namespace, workflowExecutionRetentionPeriod: msToTs('24 hours') };
  await workflowService.registerNamespace(request).catch((err: unknown) => {
    if (grpcCode(err) !== ALREADY_EXISTS) throw err;
  });
  // A server remembers for a while that there was none.
  const there = new Client({ connection, namespace });
  const isKnown = (): Promise<boolean> =>
    registerSearchAttributes(there).then(
      () => true,
      () => false,
    );
  await until(isKnown, 60_000);
}

/** As anyone can who has access to that machine. */
async function tells(agent: string, at: Date): Promise<void> {
  const there = new Client({ connection: engine.client.temporal.connection, namespace });
  const told = {
    [SEARCH_ATTRIBUTES.notices]: [`lost ${at.toISOString()} c`],
    [SEARCH_ATTRIBUTES.noticedAt]: [at],
  };
  await there.workflow.start('anything', {
    ...{ workflowId: `exec/${agent}/${host}/0`, taskQueue: 'nobody', searchAttributes: told },
  });
  const query = `${SEARCH_ATTRIBUTES.noticedAt} IS NOT NULL AND WorkflowId = "exec/${agent}/${host}/0"`;
  await until(async () => (await there.workflow.count(query)).count === 1);
}
