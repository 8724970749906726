import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testClient } from '../../helpers/engines/temporal';
import { connectTemporal, resolveServer } from '../../../client/connect';

let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-profile-'));
  const file = join(folder, 'temporal.toml');
  writeFileSync(
    file,
    '[profile.default]\naddress = "from-file:7233"\n' +
      '[profile.cloud]\naddress = "cloud:7233"\nnamespace = "team"\napi_key = "key-of-the-team"\n',
  );
  env = { TEMPORAL_CONFIG_FILE: file };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('without address, environment and profile the embedded server is meant', () => {
  const server = resolveServer({}, { TEMPORAL_CONFIG_FILE: join(folder, 'absent.toml') });
  expect(server.isConfigured).toBe(false);
});

test.each([
  {
    title: 'a flag wins over all',
    choice: { address: 'flag:1' },
    more: { TEMPORAL_ADDRESS: 'env:1' },
    address: 'flag:1',
  },
  { title: 'the environment wins over the profile', more: { TEMPORAL_ADDRESS: 'env:1' }, address: 'env:1' },
  {
    title: 'a profile is found by its name',
    choice: { profile: 'cloud' },
    address: 'cloud:7233',
    namespace: 'team',
  },
  {
    title: 'a namespace flag wins over the profile',
    choice: { profile: 'cloud', namespace: 'mine' },
    address: 'cloud:7233',
    namespace: 'mine',
  },
])('$title', ({ choice = {}, more = {}, address, namespace = 'default' }) => {
  expect(resolveServer(choice, { ...env, ...more })).toMatchObject({
    address,
    namespace,
    isConfigured: true,
  });
});

test('a profile with an API key connects with TLS and that key', () => {
  const { connection } = resolveServer({ profile: 'cloud' }, env);
  expect(connection?.apiKey).toBe('key-of-the-team');
  expect(Boolean(connection?.tls)).toBe(true);
});

test('a missing profile is a configuration error that names it', () => {
  expect(() => resolveServer({ profile: 'absent' }, env)).toThrow(/config_invalid|absent/);
});

test('a proxy in the environment is not asked for a server on this machine', async () => {
  const { address } = await testClient();
  process.env.https_proxy = 'http://127.0.0.1:1';
  try {
    const { connection } = await connectTemporal({ ...resolveServer({ address }, {}), namespace: 'default' });
    await connection.close();
  } finally {
    delete process.env.https_proxy;
  }
}, 60_000);

test('an address where nothing answers is no_server, with the address', async () => {
  const server = resolveServer({ address: '127.0.0.1:1' }, {});
  await expect(connectTemporal(server)).rejects.toMatchObject({
    code: 'no_server',
    facts: { address: '127.0.0.1:1' },
  });
}, 60_000);
