import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlobStore } from '../../../activities/blob-store';

let folder: string;
let blobs: BlobStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-blobs-'));
  blobs = new BlobStore(folder);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const LARGE = 'é'.repeat(100_000);

test('a small value stays in history, a large one goes by file and comes back the same', async () => {
  expect(await blobs.fit('t', { a: 1 })).toEqual({ ok: true, value: { a: 1 } });
  const outcome = await blobs.fit('t', LARGE);
  if (!('blob' in outcome)) throw new Error('not by file');
  expect(await blobs.read(outcome.blob)).toBe(LARGE);
  expect(await blobs.fit('t', LARGE)).toEqual(outcome);
  expect(readdirSync(folder)).toHaveLength(1);
});

test('a value that no connection carries is an error of its call', async () => {
  expect(await blobs.fit('t', 'x'.repeat(17_000_000))).toMatchObject({
    ok: false,
    error: { code: 'result_too_large' },
  });
  expect(readdirSync(folder)).toEqual([]);
});

test('a file that was changed or taken away is said to be, never given as the value', async () => {
  const outcome = await blobs.fit('t', LARGE);
  if (!('blob' in outcome)) throw new Error('not by file');
  writeFileSync(join(folder, outcome.blob.sha256), JSON.stringify('ê'.repeat(100_000)));
  await expect(blobs.read(outcome.blob)).rejects.toMatchObject({ code: 'storage_failed' });
  rmSync(join(folder, outcome.blob.sha256));
  await expect(blobs.read(outcome.blob)).rejects.toMatchObject({ code: 'storage_failed' });
});

test.each(['../../etc/passwd', '', 'A'.repeat(64)])(
  'a name that is no hash touches no file: %s',
  async (sha256) => {
    await expect(blobs.read({ sha256, bytes: 1 })).rejects.toMatchObject({ code: 'storage_failed' });
  },
);

test('what no call can ask for any more is removed, the rest stays', async () => {
  const outcome = await blobs.fit('t', LARGE);
  if (!('blob' in outcome)) throw new Error('not by file');
  await blobs.prune(Date.now() + 31 * 24 * 3_600_000);
  expect(existsSync(join(folder, outcome.blob.sha256))).toBe(true);
  await blobs.prune(Date.now() + 33 * 24 * 3_600_000);
  expect(readdirSync(folder)).toEqual([]);
});
