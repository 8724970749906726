// The same versions and settings stand in TypeScript, in the Go module and in the compose file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { TEMPORAL_CLI_VERSION } from '../../../engine/pinned';
import { SEARCH_ATTRIBUTE_TYPES } from '../../../contracts/messages';
import { DYNAMIC_CONFIG } from '../../../engine/tuning';

const ROOT = join(__dirname, '..', '..', '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Compose {
  services: Record<string, { image: string; ports?: string[]; command?: string[] }>;
}
const compose = parse(read('docker-compose.temporal.yml'), { merge: true }) as Compose;

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
