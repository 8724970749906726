// Whether a data folder that another machine has claimed may be taken, whatever the clock of this machine says.
import os from 'node:os';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { QueueClaims } from '../../../client/hosts/queue-claims';
import { folderKey, type ClaimFacts } from '../../../contracts/sessions/claims';
import { identityOf } from '../../../system/processes/process-identity';
import { polledQueue } from '../../../workers/agents/agents-pollers';
import { FolderClaim } from '../../../workers/folder-claim';
import { testClient, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const HOUR_MS = 3_600_000;

let client: HoldfastClient;
let claims: QueueClaims;
beforeAll(async () => {
  client = await testClient();
  claims = new QueueClaims(client.temporal, 'nobody');
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => client.close());

type Facts = ClaimFacts & { queues: readonly string[] };
const own = (): Facts => ({
  folderId: uniqueId('folder'),
  place: 'here',
  machineId: 'copied',
  dataDir: '/data',
  machine: 'here',
  maker: identityOf(process.pid),
  instance: uniqueId('instance'),
  queues: [],
});
/** The same folder elsewhere. */
const other = (facts: Facts, more: Partial<Facts>): Facts => ({
  ...{ ...facts, place: 'there', instance: uniqueId('instance') },
  ...{ maker: { pid: 1, startTime: '1', bootId: 'another' }, ...more },
});
const take = (facts: Facts): Promise<FolderClaim> =>
  FolderClaim.make({ claims, client: client.temporal, facts, isOwnServer: false, warn: () => undefined });

async function free(facts: Facts): Promise<void> {
  const standing = await claims.read(folderKey(facts.folderId));
  if (standing) await claims.free(folderKey(facts.folderId), standing, 'the test is over');
}

test('a machine whose clock is ahead does not take a folder that another machine has just claimed', async () => {
  const facts = own();
  await claims.make(folderKey(facts.folderId), other(facts, { machine: 'elsewhere' }));
  const now = Date.now();
  jest.spyOn(Date, 'now').mockReturnValue(now + HOUR_MS);
  await expect(take(facts)).rejects.toMatchObject({ code: 'folder_in_use' });
  jest.restoreAllMocks();
  await free(facts);
});

test('two machines with one name and one id, copies of one disk, do not take a folder from each other', async () => {
  const facts = own();
  await claims.make(folderKey(facts.folderId), other(facts, {}));
  await expect(take(facts)).rejects.toMatchObject({ code: 'folder_in_use' });
  await free(facts);
});

test('a machine that has just been started again takes its folder at once', async () => {
  const facts = own();
  await claims.make(folderKey(facts.folderId), other(facts, {}));
  jest.spyOn(os, 'uptime').mockReturnValue(0);
  await (await take(facts)).leave();
  expect(await claims.read(folderKey(facts.folderId))).toBeNull();
});

test('a worker that polls is there for one whose clock is ahead', async () => {
  const queue = uniqueId('queue');
  const { temporal } = client;
  const asking = temporal.withDeadline(Date.now() + 60_000, () =>
    temporal.workflowService.pollWorkflowTaskQueue({
      namespace: temporal.options.namespace,
      taskQueue: { name: queue },
      identity: `1@elsewhere agents 0123456789ab ${uniqueId('instance')}`,
    }),
  );
  asking.catch(() => undefined);
  const others = async (): Promise<number> => (await polledQueue(temporal, queue)).others.length;
  await until(async () => (await others()) === 1);
  const now = Date.now();
  jest.spyOn(Date, 'now').mockReturnValue(now + HOUR_MS);
  expect(await others()).toBe(1);
});
