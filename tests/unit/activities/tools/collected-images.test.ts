import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ImageFiles } from '../../../../activities/blobs/image-files';
import { ImageStore } from '../../../../activities/blobs/image-store';
import { CollectedImages } from '../../../../activities/tools/collected-images';
import type { ToolResult } from '../../../../contracts/agents/agent';
import { png } from '../../../helpers/tools/images';

const { signal } = new AbortController();
const RESULT: ToolResult = { callId: 'c', tool: 't', content: 'looked', isError: false };
let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'holdfast-images-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function added(images: Buffer[], { result = RESULT, agentValueBytes = 1_000_000 } = {}): Promise<ToolResult> {
  const store = new ImageStore({
    files: new ImageFiles(folder, { valueBytes: 1_000_000, agentValueBytes }),
    objects: null,
    bucket: null,
    place: { at: 'host.here', fetch: () => Promise.reject(new Error('nobody is asked')) },
    server: null,
  });
  const collected = new CollectedImages();
  for (const image of images) collected.add(image);
  return collected.addTo(result, { store, agent: 'a', signal });
}

test('a result names the images that its call added, in their order', async () => {
  expect(await added([png(1, 2), png(3, 4)])).toEqual({
    ...RESULT,
    images: [
      expect.objectContaining({ width: 1, height: 2 }),
      expect.objectContaining({ width: 3, height: 4 }),
    ],
  });
});

test('a result without images, and one that is an error, are left as they are', async () => {
  expect(await added([])).toEqual(RESULT);
  const failed = { ...RESULT, isError: true };
  expect(await added([png(1, 1)], { result: failed })).toEqual(failed);
});

test('more than 20 images of a result, and what is no image, are refused', async () => {
  const collected = new CollectedImages();
  for (let n = 0; n < 20; n++) collected.add(png(1, 1));
  expect(() => collected.add(png(1, 1))).toThrow('got image 21, allowed 20 in one result');
  expect(() => collected.add(Buffer.from('text'))).toThrow('none of these');
});

test('bytes that the tool changes afterwards are not those that are kept', async () => {
  const image = png(5, 6);
  const collected = new CollectedImages();
  collected.add(image);
  image.fill(0);
  const store = new ImageStore({
    files: new ImageFiles(folder),
    objects: null,
    bucket: null,
    place: { at: 'host.here', fetch: () => Promise.reject(new Error('nobody is asked')) },
    server: null,
  });
  const { images = [] } = await collected.addTo(RESULT, { store, agent: 'a', signal });
  const [ref] = images;
  if (!ref) throw new Error('no image');
  expect(await store.read('a', ref, signal)).toBe(png(5, 6).toString('base64'));
});

test('an image that cannot be kept is told in words: the tool has taken effect', async () => {
  const result = await added([png(5, 6)], { agentValueBytes: 10 });
  expect(result.images).toBeUndefined();
  expect(result.content).toMatch(
    /^looked\n\[image: png, 5x6, \d+ bytes; it could not be kept: conversations of agent a hold/,
  );
});
