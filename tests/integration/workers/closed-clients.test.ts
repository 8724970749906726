// What a client and workers say once they are closed, and of a namespace that the server does not have: in the
// catalogue's words, whichever request comes first.
import { NativeConnection } from '@temporalio/worker';
import { HoldfastClient } from '../../../client/holdfast-client';
import { createWorkers } from '../../../workers';
import { quietenRuntime } from '../../../testing/quiet-runtime';
import { scratch, testAddress, type Scratch } from '../../helpers/engines/temporal';

let files: Scratch;
beforeAll(() => {
  quietenRuntime();
  files = scratch();
});
afterAll(() => files.remove());

const REQUESTS: Record<string, (client: HoldfastClient) => Promise<unknown>> = {
  start: (client) => client.agent('nobody').start({ task: 'x', model: 'm:1' }),
  result: (client) => client.agent('nobody').result(),
  follow: (client) => client.agent('nobody').follow().next(),
  output: (client) => client.session({ agent: 'nobody', session: 0 }).output(),
  exec: (client) => client.session({ agent: 'nobody', session: 0 }).exec({ code: 'true' }),
  'agents.list': (client) => client.agents.list().next(),
  'sessions.list': (client) => client.sessions.list(),
  'approvals.list': (client) => client.approvals.list(),
  'hosts.list': (client) => client.hosts.list(),
  'hosts.state': (client) => client.hosts.state('nobody'),
};

const codeOf = (err: unknown): unknown => (err as { code?: unknown }).code;

/** Each request with the code of its error and what it says. */
async function answersOf(client: HoldfastClient): Promise<Record<string, [unknown, string]>> {
  const answers = Object.entries(REQUESTS).map(async ([name, ask]) => {
    const err: unknown = await ask(client).catch((reason: unknown) => reason);
    return [name, [codeOf(err), (err as Error).message]] as const;
  });
  return Object.fromEntries(await Promise.all(answers)) as Record<string, [unknown, string]>;
}

const each = (code: string, text: string): unknown =>
  Object.fromEntries(Object.keys(REQUESTS).map((name) => [name, [code, expect.stringContaining(text)]]));

const CLOSED =
  'this program has closed its connection. Next: Close a client, workers or a test environment last';
const MISSING = 'no such namespace: got nope. Next: ';

test('each request of a closed client says that it is closed', async () => {
  const client = await HoldfastClient.connect({ address: testAddress() }, {});
  await client.close();
  await client.close();
  expect(await answersOf(client)).toEqual(each('no_server', CLOSED));
}, 60_000);

test('each request of the client of closed workers says that it is closed', async () => {
  const options = { address: testAddress(), dataDir: `${files.directory}/a`, host: null, queue: 'closed-a' };
  const workers = await createWorkers(options);
  await workers.close();
  expect(await answersOf(workers.client)).toEqual(each('no_server', CLOSED));
}, 60_000);

test('each request on a given connection that its owner has closed says that it is closed', async () => {
  const connection = await NativeConnection.connect({ address: testAddress() });
  const workers = await createWorkers({
    connection,
    dataDir: `${files.directory}/b`,
    host: null,
    queue: 'closed-b',
  });
  await workers.close();
  await connection.close();
  expect(await answersOf(workers.client)).toEqual(each('no_server', CLOSED));
}, 60_000);

test('each request in a namespace that is missing says so', async () => {
  const client = await HoldfastClient.connect({ address: testAddress(), namespace: 'nope' }, {});
  expect(await answersOf(client)).toEqual(each('namespace_missing', MISSING));
  await client.close();
}, 60_000);

test.each([{ host: null }, { host: 'missing-a' }, { host: 'missing-b', agents: false }])(
  'workers in a namespace that is missing are refused with its name: %p',
  async (served) => {
    const where = { address: testAddress(), namespace: 'nope', dataDir: `${files.directory}/c` };
    await expect(createWorkers({ ...where, ...served })).rejects.toMatchObject({
      code: 'namespace_missing',
      message: expect.stringContaining(MISSING) as string,
    });
  },
  60_000,
);

test('a converter that cannot be loaded is no server that is away', async () => {
  const dataConverter = { payloadConverterPath: '/nope.js' };
  const made = HoldfastClient.connect({ address: testAddress(), dataConverter }, {});
  await expect(made).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(/^The data converter is invalid: got .*nope\.js/) as string,
  });
}, 60_000);
