import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlobStore } from '../../../activities/blob-store';
import type { BlobRef } from '../../../contracts/tools';

let folder: string;
let blobs: BlobStore;
let elsewhere: (ref: BlobRef) => Buffer | Promise<Buffer>;
const { signal } = new AbortController();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-blobs-'));
  blobs = new BlobStore(folder, {
    at: 'host.here',
    fetch: (ref) => Promise.resolve(elsewhere(ref)),
  });
  elsewhere = () => Promise.reject(new Error('host there is offline'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const LARGE = 'é'.repeat(100_000);

test('a small value stays in history, a large one goes by file and comes back the same', async () => {
  expect(await blobs.fit('t', { a: 1 })).toEqual({ ok: true, value: { a: 1 } });
  const outcome = await blobs.fit('t', LARGE);
  if (!('blob' in outcome)) throw new Error('not by file');
  expect(await blobs.read(outcome.blob, signal)).toBe(LARGE);
  expect(await blobs.fit('t', LARGE)).toEqual(outcome);
  expect(readdirSync(folder)).toHaveLength(1);
});

test('a value that no connection carries is an error of its call', async () => {
  await expect(blobs.fit('t', 'x'.repeat(17_000_000))).rejects.toMatchObject({ code: 'result_too_large' });
  expect(readdirSync(folder)).toEqual([]);
});

test('a file that was changed or taken away is said to be, never given as the value', async () => {
  const outcome = await blobs.fit('t', LARGE);
  if (!('blob' in outcome)) throw new Error('not by file');
  writeFileSync(join(folder, outcome.blob.sha256), JSON.stringify('ê'.repeat(100_000)));
  await expect(blobs.read(outcome.blob, signal)).rejects.toThrow('not there any more');
  rmSync(join(folder, outcome.blob.sha256));
  await expect(blobs.read(outcome.blob, signal)).rejects.toThrow('not there any more');
});

test.each(['../../etc/passwd', '', 'A'.repeat(64)])(
  'a name that is no hash touches no file: %s',
  async (sha256) => {
    await expect(blobs.read({ sha256, bytes: 1 }, signal)).rejects.toMatchObject({ code: 'invalid_input' });
  },
);

test('a value of another machine is fetched once, and given only where it is what its name says', async () => {
  const content = Buffer.from(JSON.stringify(LARGE));
  const sha256 = createHash('sha256').update(content).digest('hex');
  const there = { sha256, bytes: content.length, at: 'host.there' };
  await expect(blobs.read(there, signal)).rejects.toThrow('host there is offline');
  const changed = Buffer.from(content).fill('x', 1, 9);
  elsewhere = () => changed;
  await expect(blobs.read(there, signal)).rejects.toThrow('not what was sent');
  elsewhere = () => content;
  expect(await blobs.read(there, signal)).toBe(LARGE);
  elsewhere = () => Promise.reject(new Error('asked again'));
  expect(await blobs.read(there, signal)).toBe(LARGE);
});

test('the parts of a value are the value, and one that is not there is said to be', async () => {
  const outcome = await blobs.fit('t', 'é'.repeat(600_000));
  if (!('blob' in outcome)) throw new Error('not by file');
  const { sha256, bytes } = outcome.blob;
  const parts: Buffer[] = [];
  for (let from = 0; from < bytes; from += parts.at(-1)?.length ?? 0)
    parts.push(await blobs.part(sha256, from));
  expect(parts).toHaveLength(2);
  expect(createHash('sha256').update(Buffer.concat(parts)).digest('hex')).toBe(sha256);
  await expect(blobs.part('0'.repeat(64), 0)).rejects.toMatchObject({ code: 'not_found' });
});

test('what no call can ask for any more is removed, the rest stays', async () => {
  const outcome = await blobs.fit('t', LARGE);
  if (!('blob' in outcome)) throw new Error('not by file');
  await blobs.prune(Date.now() + 31 * 24 * 3_600_000);
  expect(existsSync(join(folder, outcome.blob.sha256))).toBe(true);
  await blobs.prune(Date.now() + 33 * 24 * 3_600_000);
  expect(readdirSync(folder)).toEqual([]);
});
