// Images that tools return: kinds, limits, and how they are described in words. Pure.
import type { BlobRef } from './blob-ref';

/** What both vendors' models can see. SVG is a document that can run code, and is never one. */
export const IMAGE_MIMES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export type ImageMime = (typeof IMAGE_MIMES)[number];

/** Anthropic's limit for an image is 5 MiB as base64, which is this many bytes. OpenAI's is higher. */
export const MAX_IMAGE_BYTES = (5 * 1024 * 1024 * 3) / 4;
/** Width and height, in pixels: Anthropic's limit. */
export const MAX_IMAGE_SIDE = 8_000;
/** Images of one result. Beyond 20 in a request, Anthropic allows only small ones. */
export const MAX_RESULT_IMAGES = 20;

export interface ImageFacts {
  mime: ImageMime;
  bytes: number;
  /** In pixels. */
  width: number;
  height: number;
}

/** An image in a conversation: history holds this, the store has the bytes. */
export type ImageRef = BlobRef & ImageFacts;

const KB = 1_000;

/** For example `png, 640x480, 12 kB`. */
export function imageWords({ mime, bytes, width, height }: ImageFacts): string {
  const size = bytes < KB ? `${bytes} bytes` : bytes < KB * KB ? `${Math.round(bytes / KB)} kB` : inMb(bytes);
  return `${mime.replace('image/', '')}, ${width}x${height}, ${size}`;
}

const inMb = (bytes: number): string => `${(bytes / KB / KB).toFixed(1)} MB`;

/** A line in place of an image, for example `[image: png, 640x480, 12 kB; this model cannot see images]`. */
export const imageLine = (image: ImageFacts, remark?: string): string =>
  `[image: ${imageWords(image)}${remark === undefined ? '' : `; ${remark}`}]`;
