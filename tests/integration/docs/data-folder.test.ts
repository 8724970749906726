// docs/operating.md names every file of a data folder: of this run's server, of a worker and a gateway that are in use,
// and of a host on another machine.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Gateway } from '../../../gateway/gateway';
import { packageRoot } from '../../../system/package-root';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { ApiClient, gatewayOn } from '../../helpers/gateway/gateway';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { testDataDir } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';
import { fileNeeds } from '../../helpers/run/programs';

fileNeeds('openssl');

const page = readFileSync(join(packageRoot(), 'docs', 'operating.md'), 'utf8');
const table = page.split('## A data folder')[1]?.split('\n## ')[0] ?? '';
/** The first column of the table, in backquotes. */
const patterns = table
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));

const matcherOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split(/(\*\*|\*)/)
      .map((part) => ({ '**': '.+', '*': '[^/]*' })[part] ?? part.replace(/[.]/g, '\\.'))
      .join('')}$`,
  );
const unnamed = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ name, parentPath }) => join(parentPath, name).slice(folder.length + 1))
    // A file that is being written, before it gets its name.
    .filter((path) => existsSync(join(folder, path)) && !path.includes('.partial'))
    .filter((path) => !patterns.some((pattern) => matcherOf(pattern).test(path)));

const engine = new EngineOfItsOwn();
const tools = join(packageRoot(), 'tests', 'fixtures', 'script-tools.mjs');
let pi: RemoteHost;
let gateway: Gateway;
beforeAll(async () => {
  await engine.start({ tools: [tools] });
  gateway = await gatewayOn(engine);
  pi = new RemoteHost('pi', engine.server().address);
  await pi.serve('--listen', '127.0.0.1:0');
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await pi.end();
  expect(await engine.end()).toEqual([]);
}, 60_000);

test('every file of a data folder that is in use is in the table of docs/operating.md', async () => {
  const admin = await ApiClient.of(gateway, 'admin');
  await admin.post('/v1/webhooks', { id: 'team', url: 'http://127.0.0.1:9/', events: ['turn.ended'] });
  // Their arguments are large, and they wait.
  const code = `
import codex_tools
print(codex_tools.echo(value="x" * 100_000)[:5], flush=True)
codex_tools.meet_here(place="p" * 70_000, count=2)`;
  const began = { firstOutputMs: 60_000, betweenOutputMs: 1 };
  const sessions = ['local', 'pi'].map((host) => engine.client.session({ agent: 'a', host, session: 0 }));
  for (const session of sessions) await session.exec({ runtime: 'python', code, yield: began });
  // What proves that these are in use.
  const here = [
    'gateway/tokens.json',
    'webhooks/webhooks.json',
    'blobs/a',
    'sessions/a.local.0/log',
    'tasks',
  ];
  const there = ['attach.pi.token', 'offered-tools.pi.json', 'blobs/a', 'commands/pi'];
  const missing = (): string[] => [
    ...here.filter((name) => !existsSync(join(engine.dataDir, name))),
    ...there.filter((name) => !existsSync(join(pi.dataDir, name))),
  ];
  await until(() => missing().length === 0).catch(() => expect(missing()).toEqual([]));
  await pi.cli('host', 'access', 'pi', 'read-only');
  expect(patterns.length).toBeGreaterThan(30);
  for (const folder of [engine.dataDir, pi.dataDir, testDataDir()]) expect(unnamed(folder)).toEqual([]);
  for (const session of sessions) await session.close('done');
}, 120_000);

test('the table names no file that no code writes', () => {
  const sources = ['activities', 'cli', 'engine', 'exec', 'gateway', 'system', 'workers']
    .flatMap((folder) => {
      const all = readdirSync(join(packageRoot(), folder), { recursive: true, encoding: 'utf8' });
      return all.filter((name) => name.endsWith('.ts')).map((name) => join(packageRoot(), folder, name));
    })
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  // What comes before a star, of each folder and file: `roles` is a default of the configuration.
  const literals = patterns
    .filter((pattern) => !pattern.startsWith('roles/'))
    .flatMap((pattern) => pattern.split('/').map((name) => name.replace(/[*].*$/, '').replace(/[.-]+$/, '')));
  expect(literals.filter((literal) => !sources.includes(literal))).toEqual([]);
});
