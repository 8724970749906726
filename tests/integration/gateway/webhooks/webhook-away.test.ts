// A webhook whose receiver, or whose settings, stay away for so long that its history must begin anew.
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { HoldfastClient } from '../../../../client/holdfast-client';
import { WORKFLOWS } from '../../../../contracts/messages';
import { WEBHOOK_MESSAGES } from '../../../../contracts/messages/to-webhooks';
import type { WebhookCursor, WebhookFound, WebhookLook, WebhookState } from '../../../../contracts/webhooks';
import { packageRoot } from '../../../../system/package-root';
import { quietenRuntime } from '../../../../testing/quiet-runtime';
import { testAddress, testClient, uniqueId } from '../../../helpers/engines/temporal';
import { until } from '../../../helpers/until';

jest.setTimeout(200_000);

/** As many as may wait. */
const FULL = 1_000;
const taskQueue = uniqueId('webhooks');
const failure = ApplicationFailure.nonRetryable('away');
/** What the activities do, for webhooks by name. */
const looks: string[] = [];
const taken = new Set<string>();

const activities = {
  lookForEvents: async ({ webhook }: WebhookLook): Promise<WebhookFound> => {
    looks.push(webhook);
    if (webhook.startsWith('lost')) throw failure;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return { events: [], cursor: NOTHING };
  },
  deliverEvent: async ({ webhook }: { webhook: string }): Promise<void> => {
    if (!taken.has(webhook)) throw failure;
  },
};

let client: HoldfastClient;
let connection: NativeConnection;
let worker: Worker;
let running: Promise<void>;
beforeAll(async () => {
  quietenRuntime();
  client = await testClient();
  connection = await NativeConnection.connect({ address: testAddress() });
  const codePath = join(packageRoot(), 'dist', 'workflow-bundle.js');
  worker = await Worker.create({ connection, taskQueue, activities, workflowBundle: { codePath } });
  running = worker.run();
}, 60_000);
afterAll(async () => {
  worker.shutdown();
  await running;
  await connection.close();
  await client.close();
}, 60_000);

const NOTHING: WebhookCursor = { latest: null, seen: [] };

/** One with so many events that were refused before. */
function start(webhook: string, events: number): Promise<WorkflowHandle> {
  const foundAt = new Date().toISOString();
  const waiting = Array.from({ length: events }, (_, at) => ({
    event: { id: `evt_${at}`, type: 'webhook.test', timestamp: foundAt, data: { webhook } },
    ...{ foundAt, isRefused: true },
  }));
  const record = { since: foundAt, cursor: NOTHING, waiting, delivered: 0 };
  return client.temporal.workflow.start(WORKFLOWS.webhook, {
    ...{ workflowId: `webhook/${webhook}`, taskQueue, args: [{ webhook }, record] },
  });
}

const runOf = async (handle: WorkflowHandle): Promise<string> => (await handle.describe()).runId;
const stateOf = (handle: WorkflowHandle): Promise<WebhookState> => handle.query(WEBHOOK_MESSAGES.state.name);

test('with as many events as may wait, it begins anew before its history is too long, and loses none of them', async () => {
  const webhook = uniqueId('full');
  const handle = await start(webhook, FULL);
  const first = await runOf(handle);
  await until(async () => (await runOf(handle)) !== first, 90_000);
  expect(await stateOf(handle)).toMatchObject({ waiting: FULL, delivered: 0 });
  // Nor does it look for more.
  expect(looks).not.toContain(webhook);
  taken.add(webhook);
  await until(() => looks.includes(webhook), 60_000);
  expect((await stateOf(handle)).delivered).toBeGreaterThan(0);
  await handle.terminate();
});

test('it begins anew while it cannot look for events, too', async () => {
  const webhook = uniqueId('lost');
  const handle = await start(webhook, 1);
  const first = await runOf(handle);
  await until(async () => (await runOf(handle)) !== first, 90_000);
  expect(await stateOf(handle)).toMatchObject({ waiting: 1, delivered: 0 });
  expect(looks.filter((one) => one === webhook).length).toBeGreaterThan(1);
  await handle.terminate();
});
