import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlobStore } from '../../../../activities/blobs/blob-store';
import { ImageFiles } from '../../../../activities/blobs/image-files';
import { markOf, type AgentsServer } from '../../../../activities/blobs/image-owners';
import { ImageStore } from '../../../../activities/blobs/image-store';
import { imageFacts } from '../../../../contracts/tools/image-header';
import type { ImageRef } from '../../../../contracts/tools/images';
import { png } from '../../../helpers/tools/images';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const { signal } = new AbortController();
const SHOT = png(30, 30);

let folder: string;
let elsewhere: (ref: ImageRef) => Promise<Buffer>;
let fetches: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-images-'));
  elsewhere = () => Promise.reject(new Error('host pi is offline'));
  fetches = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type IsGone = AgentsServer['isGone'];
interface Given {
  isGone?: IsGone | null;
  /** The server, as it names itself. */
  owner?: string | undefined;
  limits?: { valueBytes: number; agentValueBytes: number };
}
/** As another process on the same folder, or the same machine after a restart. */
const store = (given: Given = {}): ImageStore => {
  const { isGone = () => Promise.resolve(false), limits } = given;
  return new ImageStore({
    files: new ImageFiles(folder, limits),
    objects: null,
    bucket: null,
    place: {
      at: 'host.here',
      fetch: (ref) => {
        fetches += 1;
        return elsewhere(ref as ImageRef);
      },
    },
    server: isGone && {
      isGone,
      owner: () => Promise.resolve('owner' in given ? given.owner : 'own/default'),
    },
  });
};
const keep = (agent: string, data = SHOT, images = store()): Promise<ImageRef> =>
  images.keep(agent, data, imageFacts(data), signal);
const read = (agent: string, ref: ImageRef, images = store()): Promise<string> =>
  images.read(agent, ref, signal);
const pathOf = (agent: string, { sha256 }: ImageRef): string => join(folder, agent, 'images', sha256);
const makeOld = (path: string, ms: number): void => {
  const at = new Date(Date.now() - ms);
  utimesSync(path, at, at);
};

test('an image comes back byte for byte, also in the next process; equal ones are stored once', async () => {
  const ref = await keep('a');
  expect(ref).toEqual({
    ...{ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string, at: 'host.here' },
    ...{ mime: 'image/png', bytes: SHOT.length, width: 30, height: 30 },
  });
  expect(await read('a', ref)).toBe(SHOT.toString('base64'));
  expect(await keep('a')).toEqual(ref);
});

test('an agent reads only its own images', async () => {
  const ref = await keep('a');
  await expect(read('b', ref)).rejects.toThrow('it no longer exists');
});

test('an image that was changed on the disk is not shown', async () => {
  const ref = await keep('a');
  const other = Buffer.from(SHOT);
  other[50] = 1 + (other[50] ?? 0);
  writeFileSync(pathOf('a', ref), other);
  await expect(read('a', ref)).rejects.toThrow('has changed');
});

test('an image of another machine is kept here as soon as it was read once, so its machine may go', async () => {
  const ref = { ...(await keep('a')), at: 'host.pi' };
  rmSync(pathOf('a', ref));
  elsewhere = () => Promise.resolve(SHOT);
  expect(await read('a', ref)).toBe(SHOT.toString('base64'));
  elsewhere = () => Promise.reject(new Error('host pi is offline'));
  expect(await read('a', ref)).toBe(SHOT.toString('base64'));
  expect(fetches).toBe(1);
});

test('other bytes than the conversation names are not taken from another machine', async () => {
  const ref = { ...(await keep('a')), at: 'host.pi' };
  rmSync(pathOf('a', ref));
  elsewhere = () => Promise.resolve(png(30, 30, 1));
  await expect(read('a', ref)).rejects.toThrow('differs');
  expect(existsSync(pathOf('a', ref))).toBe(false);
});

test('a machine that does not answer is not asked again by each model call', async () => {
  const ref = { ...(await keep('a')), at: 'host.pi' };
  rmSync(pathOf('a', ref));
  const images = store();
  for (let call = 0; call < 3; call++)
    await expect(read('a', ref, images)).rejects.toThrow('host pi is offline');
  expect(fetches).toBe(1);
});

test('images stay as long as the server knows their agent, however old they are', async () => {
  const ref = await keep('a');
  makeOld(pathOf('a', ref), 400 * DAY_MS);
  await store().prune();
  await new BlobStore(folder, { at: 'host.here', fetch: () => Promise.reject(new Error('x')) }).prune();
  expect(await read('a', ref)).toBe(SHOT.toString('base64'));
});

test('images go when the server has forgotten their agent, except those that are an hour old or less', async () => {
  const [old, other] = [await keep('gone'), await keep('known')];
  const recent = await keep('new');
  const isGone: IsGone = (agent) => Promise.resolve(agent !== 'known');
  for (const [agent, ref] of [
    ['gone', old],
    ['known', other],
  ] as const)
    makeOld(pathOf(agent, ref), 2 * HOUR_MS);
  await store({ isGone }).prune();
  expect(existsSync(pathOf('gone', old))).toBe(false);
  expect(existsSync(pathOf('known', other))).toBe(true);
  expect(existsSync(pathOf('new', recent))).toBe(true);
});

test.each<[string, string | undefined]>([
  ['another server, which knows none of the agents', 'other/default'],
  ['another namespace', 'own/other'],
  ['a server that does not tell which one it is', undefined],
])('a worker that is started with %s removes no image', async (_server, owner) => {
  const ref = await keep('a');
  makeOld(pathOf('a', ref), 400 * DAY_MS);
  const isGone: IsGone = () => Promise.resolve(true);
  await store({ isGone, owner }).prune();
  expect(existsSync(pathOf('a', ref))).toBe(true);
  await store({ isGone }).prune();
  expect(existsSync(join(folder, 'a', 'images'))).toBe(false);
});

test('images stay when another server, which knows none of the agents, takes the place of theirs during a look', async () => {
  const ref = await keep('a');
  makeOld(pathOf('a', ref), 400 * DAY_MS);
  const given: Given = { owner: 'own/default' };
  given.isGone = () => {
    given.owner = 'other/default';
    return Promise.resolve(true);
  };
  await store(given).prune();
  expect(existsSync(pathOf('a', ref))).toBe(true);
});

test('images that two servers have stored for agents of one name stay when one of them has forgotten its own', async () => {
  const [ref, other] = [await keep('a'), await keep('a', png(2, 2), store({ owner: 'other/default' }))];
  for (const one of [ref, other]) makeOld(pathOf('a', one), 2 * HOUR_MS);
  await store({ isGone: () => Promise.resolve(true) }).prune();
  expect([ref, other].map((one) => existsSync(pathOf('a', one)))).toEqual([true, true]);
});

test('images that name no server belong to the first one that knows their agent', async () => {
  const ref = await keep('a', SHOT, store({ owner: undefined }));
  makeOld(pathOf('a', ref), 2 * HOUR_MS);
  const isGone: IsGone = () => Promise.resolve(true);
  await store({ isGone, owner: 'other/default' }).prune();
  expect(existsSync(pathOf('a', ref))).toBe(true);
  await store().prune();
  expect(existsSync(join(folder, 'a', 'images', 'of', markOf('own/default')))).toBe(true);
  await store({ isGone }).prune();
  expect(existsSync(pathOf('a', ref))).toBe(false);
});

test('while the server does not answer nothing is removed', async () => {
  const ref = await keep('a');
  makeOld(pathOf('a', ref), 400 * DAY_MS);
  await expect(store({ isGone: () => Promise.reject(new Error('away')) }).prune()).rejects.toThrow('away');
  expect(existsSync(pathOf('a', ref))).toBe(true);
});

test('on a host that does not know agents images go after 32 days, like values', async () => {
  const [old, ref] = [await keep('a'), await keep('a', png(2, 2))];
  makeOld(pathOf('a', old), 33 * DAY_MS);
  makeOld(pathOf('a', ref), 31 * DAY_MS);
  await store({ isGone: null }).prune();
  expect([existsSync(pathOf('a', old)), existsSync(pathOf('a', ref))]).toEqual([false, true]);
});

test('a write that was cut off leaves nothing for long', async () => {
  const draft = `${pathOf('a', await keep('a'))}.draft`;
  writeFileSync(draft, 'x');
  makeOld(draft, 2 * HOUR_MS);
  await store().prune();
  expect(existsSync(draft)).toBe(false);
});

test('an agent whose images take all its share gets no further one, and its calls still have theirs', async () => {
  const limits = { valueBytes: 100_000, agentValueBytes: SHOT.length + 10 };
  const images = store({ limits });
  await keep('a', SHOT, images);
  await expect(keep('a', png(30, 30, 1), images)).rejects.toMatchObject({
    code: 'values_full',
    facts: { reason: 'conversations of agent a hold images of 0.0 MiB, allowed 0.0 MiB' },
  });
  await keep('b', SHOT, images);
  const values = new BlobStore(folder, { at: 'x', fetch: () => Promise.reject(new Error('x')) }, limits);
  await values.checkQuota('a');
});

test('a fork keeps its own image', async () => {
  const ref = await keep('a');
  expect(await store().adopt(ref, { from: 'a', to: 'b' }, signal)).toEqual(ref);
  rmSync(join(folder, 'a'), { recursive: true });
  expect(await read('b', ref)).toBe(SHOT.toString('base64'));
});

test('an agent whose name is no id touches no file', async () => {
  const ref = await keep('a');
  mkdirSync(join(folder, 'x'));
  await expect(keep('../x')).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(read('x/../a', ref)).rejects.toThrow('invalid_input');
});
