// Who serves a queue of agents, as the server and this machine know it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { QUEUE_TYPES } from '../../../workers/pollers';
import { polledQueue } from '../../../workers/agents/agents-pollers';
import { testClient, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const OFFER = '0123456789ab';

let client: HoldfastClient;
beforeAll(async () => {
  client = await testClient();
});
afterAll(() => client.close());

/** Polls once, as a worker of this machine with that pid does. */
async function poll(queue: string, pid: number): Promise<void> {
  const { temporal } = client;
  const asking = temporal.withDeadline(Date.now() + 60_000, () =>
    temporal.workflowService.pollWorkflowTaskQueue({
      namespace: temporal.options.namespace,
      taskQueue: { name: queue },
      identity: `${pid}@${hostname()} agents ${OFFER} ${uniqueId('instance')}`,
    }),
  );
  asking.catch(() => undefined);
  await until(async () => {
    const { pollers } = await temporal.workflowService.describeTaskQueue({
      namespace: temporal.options.namespace,
      taskQueue: { name: queue },
      taskQueueType: QUEUE_TYPES.workflow,
    });
    return (pollers ?? []).length === 1;
  });
}

test('a worker that has ended is not there, though its parent has not waited for it and it still has its pid', async () => {
  // `exec` leaves the child to a program that waits for none.
  const parent = spawn('sh', ['-c', 'sleep 1000 & echo $!; exec sleep 1001'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const [said] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(said.toString());
    const queue = uniqueId('queue');
    await poll(queue, pid);
    const others = async (): Promise<unknown> => (await polledQueue(client.temporal, queue, ['mine'])).others;
    expect(await others()).toEqual([{ offer: OFFER, buildId: null }]);

    process.kill(pid, 'SIGKILL');

    await until(async () => JSON.stringify(await others()) === '[]');
    // Its pid is still taken.
    expect(process.kill(pid, 0)).toBe(true);
  } finally {
    parent.kill('SIGKILL');
  }
});
