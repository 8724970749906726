// A command that watches its work, when `holdfast down` is called elsewhere.
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn({ ownServer: true });

beforeAll(() => engine.start(), 60_000);
afterAll(async () => expect(await engine.end()).toEqual([]), 60_000);

test('with `--json`, a command that `down` stops says so in one JSON object, and nothing else', async () => {
  const watching = engine.spawnCli(['exec', '--json', '--yield-ms', '60000', 'sleep 600']);
  if (!watching.stderr || !watching.stdout) throw new Error('its output is not piped');
  const output = Promise.all([text(watching.stdout), text(watching.stderr), once(watching, 'exit')]);
  const session = engine.client.session({ agent: 'cli', host: 'local', session: 0 });
  await until(async () => (await session.state().catch(() => null))?.status === 'running');
  expect(await engine.cli(['down', '--sessions'])).toMatchObject({ code: 0 });
  const [stdout, stderr, [code]] = (await output) as [string, string, [number]];
  expect({ stdout, code }).toEqual({ stdout: '', code: 75 });
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'engine_stopped' } });
}, 120_000);
