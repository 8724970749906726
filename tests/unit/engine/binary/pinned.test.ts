// TypeScript, the Go module and the compose file have the same versions and settings.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { BROWSER_BLOCKED_PORTS } from '../../../../engine/ui-guard/browser-ports';
import { TEMPORAL_CLI_VERSION } from '../../../../engine/binary/pinned';
import { SEARCH_ATTRIBUTE_TYPES } from '../../../../contracts/messages';
import { DYNAMIC_CONFIG } from '../../../../engine/tuning';
import type { GuardConfig } from '../../../../engine/ui-guard/ui-guard-main';
import { freePort } from '../../../helpers/free-port';
import { until } from '../../../helpers/until';

const ROOT = join(__dirname, '..', '..', '..', '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Compose {
  services: Record<
    string,
    { image: string; ports?: string[]; command?: string[]; environment?: Record<string, string> }
  >;
}
const compose = parse(read('docker-compose.temporal.yml'), { merge: true }) as Compose;

const { node } = (JSON.parse(read('package.json')) as { devDependencies: { node: string } }).devDependencies;

test('the Go module builds the version that the download fetches', () => {
  expect(read('engine/temporal/go.mod')).toContain(
    `require github.com/temporalio/cli v${TEMPORAL_CLI_VERSION}\n`,
  );
});

test('the compose file runs the server that the Go module builds', () => {
  const version = /go\.temporal\.io\/server v(\S+)/.exec(read('engine/temporal/go.mod'))?.[1];
  const images = Object.values(compose.services).map(({ image }) => image);
  expect(images).toContain(`temporalio/server:${version}`);
  expect(images).toContain(`temporalio/admin-tools:${version}`);
});

test('the compose file publishes ports on this machine only', () => {
  const published = Object.values(compose.services).flatMap(({ ports }) => ports ?? []);
  expect(published.length).toBeGreaterThan(0);
  expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
});

test('the guard of the compose file runs without packages, and the web UI behind it is at a port that browsers block', async () => {
  const { 'ui-guard': guard, 'temporal-ui': ui } = compose.services;
  const uiPort = Number(ui?.environment?.TEMPORAL_UI_PORT);
  expect(BROWSER_BLOCKED_PORTS).toContain(uiPort);
  expect([ui?.ports, guard?.image]).toEqual([undefined, `node:${node}-alpine`]);
  const [, entry = '', json = ''] = guard?.command ?? [];
  const config = JSON.parse(json) as GuardConfig;
  expect(config).toMatchObject({ target: { address: 'temporal-ui', port: uiPort } });
  const published = (guard?.ports ?? []).map((each) => each.replace(`:${config.listen.port}`, ''));
  expect(config.hosts).toEqual(expect.arrayContaining(published));

  // A copy, as it is mounted: without node_modules anywhere above it.
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-guard-'));
  for (const part of ['contracts', 'engine', 'system'])
    cpSync(join(ROOT, 'dist', part), join(folder, 'dist', part), { recursive: true });
  const listen = { address: '127.0.0.1', port: await freePort() };
  const args = [entry.replace('/holdfast', folder), JSON.stringify({ ...config, listen })];
  const running = spawn(process.execPath, args, { stdio: 'inherit' });
  const url = `http://127.0.0.1:${listen.port}/`;
  await until(() =>
    fetch(url).then(
      ({ status }) => status === 403,
      () => false,
    ),
  );
  const exit = once(running, 'exit');
  running.kill();
  expect(await exit).toEqual([0, null]);
  rmSync(folder, { recursive: true });
});

test('the server of the compose file is tuned like the embedded one', () => {
  const config = parse(read('engine/dynamicconfig.yaml')) as Record<string, { value: unknown }[]>;
  expect(config).toEqual(
    Object.fromEntries(Object.entries(DYNAMIC_CONFIG).map(([key, value]) => [key, [{ value }]])),
  );
});

test('the server of the compose file gets the search attributes of the embedded one', () => {
  const created = compose.services.namespace?.command?.[0] ?? '';
  const found = [...created.matchAll(/--name (\S+) --type (\w+)/g)].map(([, name, type]) => [name, type]);
  expect(Object.fromEntries(found)).toEqual(SEARCH_ATTRIBUTE_TYPES);
});
