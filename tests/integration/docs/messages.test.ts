// What each workflow takes is what the tables of messages say, no more and no less.
import { hostWorkflowId, MAIN_TASK_QUEUE } from '../../../contracts/ids';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { descriptionOf } from '../../../contracts/messages/message';
import { quotaWorkflowId } from '../../../contracts/models/daily-quota';
import { webhookWorkflowId } from '../../../contracts/webhooks';
import { HOST_MESSAGES } from '../../../contracts/messages/to-hosts';
import { WORKFLOWS } from '../../../contracts/messages';
import { kindsOf, MESSAGE_TABLES } from '../../helpers/docs/message-tables';
import { scratch, testClient, uniqueId, type Scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

let client: HoldfastClient;
let files: Scratch;
beforeAll(async () => {
  client = await testClient();
  files = scratch();
});
afterAll(async () => {
  await client.close();
  files.remove();
});

type Kind = 'signal' | 'update' | 'query';
type Metadata = { definition: Record<`${Kind}Definitions`, { name: string; description?: string }[]> };

/** What Temporal's web UI lists; the names that Temporal itself defines begin with underscores. */
async function takenBy(workflowId: string): Promise<string[]> {
  const handle = client.temporal.workflow.getHandle(workflowId);
  const { definition } = await handle.query<Metadata>('__temporal_workflow_metadata');
  const kinds: Kind[] = ['signal', 'update', 'query'];
  const taken = kinds.flatMap((kind) =>
    definition[`${kind}Definitions`]
      .filter(({ name }) => !name.startsWith('__'))
      .map(({ name, description }) => `${kind} ${name}. ${description}`),
  );
  return taken.sort();
}

const tabled = (workflow: string): string[] =>
  MESSAGE_TABLES.filter(({ workflows }) => workflows.includes(workflow))
    .flatMap(({ messages }) => Object.values(messages))
    .flatMap((message) =>
      kindsOf(message).map((kind) => `${kind} ${message.name}. ${descriptionOf(message)}`),
    )
    .sort();

test('an agent, its turn, a session, a host, a webhook and a quota take exactly the messages of their tables, as described there', async () => {
  const id = uniqueId('tables');
  const agent = client.agent(id);
  await agent.start({ mode: 'conversation', ...files.settings([{ delayMs: 60_000, text: 'late' }]) });
  await agent.post('go');
  await until(async () => (await agent.ownState()).currentTurn !== null);
  const session = client.session({ agent: id, session: 0 });
  await session.open();
  const host = await client.temporal.workflow.start(WORKFLOWS.host, {
    workflowId: hostWorkflowId(id),
    taskQueue: MAIN_TASK_QUEUE,
    args: [{}],
  });
  const webhook = await client.temporal.workflow.start(WORKFLOWS.webhook, {
    workflowId: webhookWorkflowId(id),
    taskQueue: MAIN_TASK_QUEUE,
    args: [{ webhook: id }],
  });
  const quota = await client.temporal.workflow.start(WORKFLOWS.quota, {
    workflowId: quotaWorkflowId(id),
    taskQueue: MAIN_TASK_QUEUE,
  });
  const taken = {
    agent: await takenBy(agent.workflowId),
    turn: await takenBy(`${agent.workflowId}/turn/1`),
    execSession: await takenBy(session.workflowId),
    host: await takenBy(host.workflowId),
    webhook: await takenBy(webhook.workflowId),
    quota: await takenBy(quota.workflowId),
  };
  expect(taken).toEqual(Object.fromEntries(Object.keys(taken).map((name) => [name, tabled(name)])));
  expect(MESSAGE_TABLES.flatMap(({ workflows }) => workflows).filter((name) => !(name in taken))).toEqual([]);
  await webhook.terminate('seen');
  await quota.terminate('seen');
  await host.signal(HOST_MESSAGES.forget.name);
  await session.close('seen');
  await agent.stop();
  await agent.result();
}, 60_000);
