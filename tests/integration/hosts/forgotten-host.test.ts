// A host that is forgotten while it is online, and then leaves.
import type { HostDirectory } from '../../../client/hosts/host-directory';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import type { HostFacts, HostState } from '../../../contracts/schemas/remote-hosts';
import { hostWorkflowId } from '../../../contracts/ids';
import { HOST_MESSAGES } from '../../../contracts/messages/to-hosts';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { until } from '../../helpers/until';

/** More than one run of the workflow `host` takes. */
const EVENTS = 2_100;
const AT_ONCE = 70;

const facts: HostFacts = {
  instance: 'one',
  version: '0.0.0',
  protocol: 1,
  access: 'read-write',
  root: '/',
  treeKill: 'process-search',
  sandbox: null,
  capabilities: [],
  listens: null,
};

jest.setTimeout(180_000);

const stateUnlessSilent = async (hosts: HostDirectory): Promise<HostState | undefined> => {
  try {
    return await hosts.state('gone');
  } catch (err) {
    if (err instanceof HoldfastError && err.code === 'worker_silent') return undefined;
    throw err;
  }
};

const engine = new EngineOfItsOwn();

beforeAll(async () => {
  await engine.startServer();
  await engine.connect();
}, 60_000);
afterAll(async () => expect(await engine.end()).toEqual([]), 60_000);

test('a host that was forgotten while it was online ends when it leaves, however long its history is', async () => {
  const { hosts, temporal } = engine.client;
  await hosts.announce('gone', facts);
  const host = temporal.workflow.getHandle(hostWorkflowId('gone'));
  // The same process announces itself again: nothing changes.
  for (let sent = 0; sent < EVENTS; sent += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => host.signal(HOST_MESSAGES.announce.name, facts)));
  await engine.startWorker();
  // Its first task handles all of that. On a busy machine this takes longer than the client's patience.
  await until(async () => (await stateUnlessSilent(hosts))?.status === 'online', 90_000);
  await hosts.forget('gone');
  expect(await host.result()).toMatchObject({ status: 'offline', reason: 'it was forgotten' });
  await expect(hosts.state('gone')).rejects.toMatchObject({ code: 'unknown_host' });
});
