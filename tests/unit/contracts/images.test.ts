import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { imageFacts } from '../../../contracts/tools/image-header';
import { imageLine, imageWords, MAX_IMAGE_BYTES } from '../../../contracts/tools/images';
import { GIF, JPEG, png, WEBP } from '../../helpers/tools/images';

/** VP8X with a canvas of 300x200, and VP8 of 550x368, both without their data. */
const riff = (chunk: Buffer): Buffer => {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(chunk.length + 4);
  return Buffer.concat([Buffer.from('RIFF'), size, Buffer.from('WEBP'), chunk]);
};
const VP8X = riff(
  Buffer.concat([Buffer.from('VP8X\x0a\0\0\0\0\0\0\0', 'latin1'), Buffer.of(43, 1, 0, 199, 0, 0)]),
);
const VP8 = riff(
  Buffer.concat([Buffer.from('VP8 '), Buffer.of(10, 0, 0, 0, 0, 0, 0, 0x9d, 1, 0x2a, 0x26, 2, 0x70, 1)]),
);

test.each([
  ['png', png(640, 480), { mime: 'image/png', width: 640, height: 480 }],
  ['jpeg', JPEG, { mime: 'image/jpeg', width: 1, height: 1 }],
  ['gif', GIF, { mime: 'image/gif', width: 1, height: 1 }],
  ['webp, lossless', WEBP, { mime: 'image/webp', width: 1, height: 1 }],
  ['webp, extended', VP8X, { mime: 'image/webp', width: 300, height: 200 }],
  ['webp, lossy', VP8, { mime: 'image/webp', width: 550, height: 368 }],
  ['png with more behind its end', Buffer.concat([png(2, 3), Buffer.from('more')]), { width: 2, height: 3 }],
])('an image is recognised by its bytes: %s', (_, data, facts) => {
  expect(imageFacts(data)).toMatchObject({ bytes: data.length, ...facts });
});

function gotFor(data: Uint8Array): string {
  try {
    imageFacts(data, 'plot.png');
  } catch (err) {
    if (err instanceof HoldfastError && err.code === 'image_refused') return String(err.facts.got);
    throw err;
  }
  return 'nothing wrong';
}

const tall = (): Buffer => {
  const image = png(1, 1);
  image.writeUInt32BE(8_001, 20);
  return image;
};
test.each([
  ['nothing', Buffer.alloc(0), 'none of these'],
  ['svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'none of these'],
  ['a page', Buffer.from('<!doctype html><script>'), 'none of these'],
  ['a bitmap', Buffer.from('BM\x36\0\0\0'), 'none of these'],
  ['eight bytes of a png', png(1, 1).subarray(0, 8), 'none of these'],
  ['a jpeg without a frame', Buffer.of(0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0), 'none of these'],
  ['a png that is cut off', png(9, 9).subarray(0, -12), 'a broken png'],
  ['a jpeg that is cut off', JPEG.subarray(0, -2), 'a broken jpeg'],
  ['a gif that is cut off', GIF.subarray(0, -1), 'a broken gif'],
  ['a webp that is cut off', WEBP.subarray(0, -1), 'a broken webp'],
  [
    'an image without width',
    Buffer.concat([GIF.subarray(0, 6), Buffer.alloc(2), GIF.subarray(8)]),
    'a broken gif',
  ],
  ['one that is too high', tall(), '1x8001 pixels'],
  ['one that is too large', Buffer.alloc(MAX_IMAGE_BYTES + 1), `${MAX_IMAGE_BYTES + 1} bytes or more`],
])('what a model cannot be shown is refused with its name and the reason: %s', (_, data, reason) => {
  expect(gotFor(data)).toContain(`plot.png, `);
  expect(gotFor(data)).toContain(reason);
});

test('an image of the largest size is still below 5 MiB as base64', () => {
  expect(Buffer.alloc(MAX_IMAGE_BYTES).toString('base64').length).toBe(5 * 1024 * 1024);
});

test('in words an image is its kind, size in pixels and in bytes, with a remark if there is one', () => {
  const image = { mime: 'image/png', width: 640, height: 480 } as const;
  expect(imageWords({ ...image, bytes: 900 })).toBe('png, 640x480, 900 bytes');
  expect(imageLine({ ...image, bytes: 12_345 })).toBe('[image: png, 640x480, 12 kB]');
  expect(imageLine({ ...image, bytes: 1_234_567 }, 'gone')).toBe('[image: png, 640x480, 1.2 MB; gone]');
});
