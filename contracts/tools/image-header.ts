// Recognises an image by its bytes: kind, width and height, and whether its end is there. A provider refuses a broken
// image with the whole conversation, so it is refused here. Pure.
import { HoldfastError } from '../errors/holdfast-error';
import { MAX_IMAGE_BYTES, MAX_IMAGE_SIDE, type ImageFacts, type ImageMime } from './images';

interface Header {
  mime: ImageMime;
  width: number;
  height: number;
  isWhole: boolean;
}

const ALLOWED =
  `png, jpeg, gif or webp of up to ${MAX_IMAGE_BYTES} bytes, ` +
  `${MAX_IMAGE_SIDE} pixels wide and ${MAX_IMAGE_SIDE} high`;

/**
 * Throws `image_refused` for anything that models cannot be shown.
 * @param name of the image in the error
 */
export function imageFacts(data: Uint8Array, name = 'an image'): ImageFacts {
  const refused = (got: string): HoldfastError =>
    new HoldfastError('image_refused', { got: `${name}, ${got}`, allowed: ALLOWED });
  const bytes = data.length;
  if (bytes > MAX_IMAGE_BYTES) throw refused(`${bytes} bytes or more`);
  const header = headerOf(data);
  if (!header) throw refused('which is none of these by its first bytes');
  const { mime, width, height, isWhole } = header;
  if (!isWhole || width === 0 || height === 0) throw refused(`a broken ${mime.replace('image/', '')}`);
  if (Math.max(width, height) > MAX_IMAGE_SIDE) throw refused(`${width}x${height} pixels`);
  return { mime, bytes, width, height };
}

function headerOf(data: Uint8Array): Header | undefined {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  try {
    return pngOf(data, view) ?? jpegOf(data, view) ?? gifOf(data, view) ?? webpOf(data, view);
  } catch (err) {
    // It ends within its header.
    if (err instanceof RangeError) return undefined;
    throw err;
  }
}

function textAt(data: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(...data.subarray(at, at + length));
}

/** PNG, 11.2: a signature, then chunks of a length, a type, the data and a checksum. */
function pngOf(data: Uint8Array, view: DataView): Header | undefined {
  if (textAt(data, 0, 8) !== '\x89PNG\r\n\x1a\n' || textAt(data, 12, 4) !== 'IHDR') return undefined;
  let isWhole = false;
  for (let at = 8; !isWhole && at + 12 <= data.length; at += 12 + view.getUint32(at))
    isWhole = textAt(data, at + 4, 4) === 'IEND';
  return { mime: 'image/png', width: view.getUint32(16), height: view.getUint32(20), isWhole };
}

/** Frames that hold the size (T.81, table B.1): C4, C8 and CC are something else. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
const JPEG_END = [0xff, 0xd9];

function jpegOf(data: Uint8Array, view: DataView): Header | undefined {
  if (view.getUint16(0) !== 0xffd8 || data[2] !== 0xff) return undefined;
  for (let at = 2; at < data.length;) {
    const marker = view.getUint8(at + 1);
    if (view.getUint8(at) !== 0xff) return undefined;
    // Any number of fill bytes may stand before a marker.
    if (marker === 0xff) at += 1;
    else if (isFrame(marker)) {
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
      return { mime: 'image/jpeg', width, height, isWhole: hasJpegEnd(data, at) };
    } else at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

function hasJpegEnd(data: Uint8Array, from: number): boolean {
  for (let at = data.length - 2; at > from; at--)
    if (data[at] === JPEG_END[0] && data[at + 1] === JPEG_END[1]) return true;
  return false;
}

/** Its descriptor has 13 bytes; the trailer is a semicolon. */
function gifOf(data: Uint8Array, view: DataView): Header | undefined {
  if (!['GIF87a', 'GIF89a'].includes(textAt(data, 0, 6))) return undefined;
  const isWhole = data.lastIndexOf(0x3b) >= 13;
  return { mime: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true), isWhole };
}

/** RIFF with a first chunk of one of three kinds, whose sizes stand in 14 or 24 bits. */
function webpOf(data: Uint8Array, view: DataView): Header | undefined {
  if (textAt(data, 0, 4) !== 'RIFF' || textAt(data, 8, 4) !== 'WEBP') return undefined;
  const isWhole = view.getUint32(4, true) + 8 <= data.length;
  const sized = (width: number, height: number): Header => ({ mime: 'image/webp', width, height, isWhole });
  switch (textAt(data, 12, 4)) {
    case 'VP8 ':
      return sized(view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff);
    case 'VP8L': {
      const bits = view.getUint32(21, true);
      return sized((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1);
    }
    case 'VP8X':
      return sized((view.getUint32(24, true) & 0xffffff) + 1, (view.getUint32(26, true) >>> 8) + 1);
    default:
      return undefined;
  }
}
