// Which images of a conversation a model is shown. The others are described in words.
import type { VisibleMessage } from '../contracts/agents/agent';
import { imageLine, type ImageRef } from '../contracts/tools/images';

/** The most in one request. With more, Anthropic allows only small ones. */
const MAX_IMAGES = 20;
/** As base64 with the text beside them they must stay below 32 MB, Anthropic's limit for a request. */
const MAX_BYTES = 16 * 1024 * 1024;

/** In base64. Throws the reason if it cannot be had. */
export type ReadImage = (image: ImageRef) => Promise<string>;

export interface VisibleImages {
  /** Each image that is not shown is a line in the text of its result. */
  messages: VisibleMessage[];
  /** Those that are shown in base64, by hash. */
  images: ReadonlyMap<string, string>;
}

export const CANNOT_SEE = 'this model cannot see images';

/** All in words. */
export const imagesInWords = (messages: readonly VisibleMessage[], why: string): VisibleImages => ({
  messages: messages.map((message) => inWords(message, () => why)),
  images: new Map(),
});

/** Reads the images; throws only what `read` does when `signal` is aborted. */
export async function visibleImages(
  messages: readonly VisibleMessage[],
  read: ReadImage,
  signal: AbortSignal,
): Promise<VisibleImages> {
  const all = messages.flatMap((message) => (message.role === 'tool' ? (message.images ?? []) : []));
  const shown = all.slice(firstShown(all));
  const images = new Map<string, string>();
  const missing = new Map<string, string>();
  await Promise.all(
    shown.map(async (image) => {
      try {
        images.set(image.sha256, await read(image));
      } catch (err) {
        signal.throwIfAborted();
        missing.set(image.sha256, `it is not available: ${(err as Error).message}`);
      }
    }),
  );
  const isShown = new Set<ImageRef>(shown);
  const why = (image: ImageRef): string | undefined =>
    isShown.has(image) ? missing.get(image.sha256) : 'not shown again, because there are many newer ones';
  return { messages: messages.map((message) => inWords(message, why)), images };
}

/**
 * The index of the first image that is sent. When the limit is reached, the older half goes at once: what was sent stays
 * the same for several calls, so that the provider's cache of it holds.
 */
function firstShown(images: readonly ImageRef[]): number {
  let first = 0;
  let bytes = 0;
  for (const [at, image] of images.entries()) {
    bytes += image.bytes;
    if (at - first < MAX_IMAGES && bytes <= MAX_BYTES) continue;
    while (first < at && (at - first >= MAX_IMAGES / 2 || bytes > MAX_BYTES / 2))
      bytes -= images[first++]?.bytes ?? 0;
  }
  return first;
}

/** @param why an image is not shown; undefined: it is */
function inWords(message: VisibleMessage, why: (image: ImageRef) => string | undefined): VisibleMessage {
  if (message.role !== 'tool' || !message.images) return message;
  const { images, content, ...rest } = message;
  const shown = images.filter((image) => why(image) === undefined);
  const lines = images.flatMap((image) => {
    const reason = why(image);
    return reason === undefined ? [] : [imageLine(image, reason)];
  });
  return { ...rest, content: [content, ...lines].join('\n'), ...(shown.length > 0 && { images: shown }) };
}
