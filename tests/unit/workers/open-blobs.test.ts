import { existsSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultDataConverter } from '@temporalio/common';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { DEFAULT_QUOTAS } from '../../../contracts/sessions/quotas';
import { imageFacts } from '../../../contracts/tools/image-header';
import { blobFolder, openBlobs } from '../../../workers/open-blobs';
import { FakeServer } from '../../helpers/engines/fake-server';
import { png } from '../../helpers/tools/images';

const YEAR_MS = 365 * 24 * 3_600_000;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

let dataDir: string;
beforeEach(() => void (dataDir = mkdtempSync(join(tmpdir(), 'holdfast-blobs-'))));
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test('a worker whose server is replaced by an empty one keeps all images, and removes them once their own has forgotten the agent', async () => {
  const server = new FakeServer({ 'agent/a': { status: 'RUNNING' } });
  const client = { temporal: server.client } as unknown as HoldfastClient;
  const { images, closeBlobs } = await openBlobs({
    ...{ dataDir, at: 'holdfast', storage: { ...DEFAULT_QUOTAS, bucket: null }, log },
    server: { client, namespace: 'default', dataConverter: defaultDataConverter },
  });
  closeBlobs();
  const shot = png(30, 30);
  const ref = await images.keep('a', shot, imageFacts(shot), new AbortController().signal);
  const path = join(blobFolder(dataDir), 'a', 'images', ref.sha256);
  const old = new Date(Date.now() - YEAR_MS);
  utimesSync(path, old, old);
  delete server.workflows['agent/a'];
  server.clusterId = 'empty';
  await images.prune(Date.now() + YEAR_MS);
  expect(existsSync(path)).toBe(true);
  server.clusterId = 'c';
  await images.prune(Date.now() + 2 * YEAR_MS);
  expect(existsSync(path)).toBe(false);
});
