import type { VisibleMessage } from '../../../contracts/agents/agent';
import type { ImageRef } from '../../../contracts/tools/images';
import { CANNOT_SEE, imagesInWords, visibleImages } from '../../../models/visible-images';

const { signal } = new AbortController();
const image = (n: number, bytes = 1_000): ImageRef => ({
  ...{ sha256: String(n), mime: 'image/png', bytes, width: 10, height: 20 },
});
const result = (...images: ImageRef[]): VisibleMessage => ({
  ...{ role: 'tool', callId: 'c', tool: 'look', content: 'looked', isError: false },
  ...(images.length > 0 && { images }),
});
const read = ({ sha256 }: ImageRef): Promise<string> => Promise.resolve(`data of ${sha256}`);

/** The numbers of the images that a request has. */
async function shownOf(count: number, bytes?: number): Promise<number[]> {
  const messages = Array.from({ length: count }, (_, n) => result(image(n, bytes)));
  return [...(await visibleImages(messages, read, signal)).images.keys()].map(Number);
}

test('an image that is shown leaves its message as it is', async () => {
  const messages: VisibleMessage[] = [{ role: 'user', text: 'x' }, result(), result(image(1), image(2))];
  const visible = await visibleImages(messages, read, signal);
  expect(visible.messages).toEqual(messages);
  expect([...visible.images]).toEqual([
    ['1', 'data of 1'],
    ['2', 'data of 2'],
  ]);
});

test('an image that cannot be had is told in words, beside one that is shown', async () => {
  const reading = (one: ImageRef): Promise<string> =>
    one.sha256 === '1' ? Promise.reject(new Error('host pi is offline')) : read(one);
  const { messages, images } = await visibleImages([result(image(1), image(2))], reading, signal);
  expect([...images.keys()]).toEqual(['2']);
  expect(messages).toEqual([
    expect.objectContaining({
      content: 'looked\n[image: png, 10x20, 1 kB; it is not available: host pi is offline]',
      images: [image(2)],
    }),
  ]);
});

test('a call that is cancelled ends, rather than telling that images are missing', async () => {
  const over = AbortSignal.abort(new Error('stopped'));
  const reading = (): Promise<string> => Promise.reject(new Error('x'));
  await expect(visibleImages([result(image(1))], reading, over)).rejects.toThrow('stopped');
});

test('a model that cannot see is told of each image', () => {
  const { messages, images } = imagesInWords([result(image(1), image(2))], CANNOT_SEE);
  const line = '[image: png, 10x20, 1 kB; this model cannot see images]';
  expect(messages).toEqual([{ ...result(), content: `looked\n${line}\n${line}` }]);
  expect(images.size).toBe(0);
});

test('a request has at most 20 images, the newest; what is sent stays the same for ten more', async () => {
  expect(await shownOf(20)).toHaveLength(20);
  expect(await shownOf(21)).toEqual(Array.from({ length: 10 }, (_, n) => n + 11));
  const starts = [];
  for (let count = 21; count <= 32; count++) starts.push((await shownOf(count))[0]);
  expect(starts).toEqual([...Array.from({ length: 11 }, () => 11), 22]);
});

test('the images of a request have at most 16 MiB, and the newest is always one of them', async () => {
  const bytes = 3_900_000;
  expect(await shownOf(4, bytes)).toEqual([0, 1, 2, 3]);
  expect(await shownOf(5, bytes)).toEqual([3, 4]);
  expect(await shownOf(7, bytes)).toEqual([3, 4, 5, 6]);
});

test('an older image that is left out is told in words', async () => {
  const messages = Array.from({ length: 21 }, (_, n) => result(image(n)));
  const visible = await visibleImages(messages, read, signal);
  expect(visible.messages[0]).toMatchObject({
    content: 'looked\n[image: png, 10x20, 1 kB; not shown again, because there are many newer ones]',
  });
});
