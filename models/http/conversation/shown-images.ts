// The images of a message, as wire protocols send them. Pure.
import type { ImageMime } from '../../../contracts/tools/images';
import type { ChatMessage, ModelRequest } from '../../provider';

export interface ShownImage {
  mime: ImageMime;
  /** In base64. */
  data: string;
}

export const shownImages = (message: ChatMessage, images: ModelRequest['images']): ShownImage[] =>
  message.role === 'assistant'
    ? []
    : (message.images ?? []).flatMap(({ mime, sha256 }) => {
        const data = images?.get(sha256);
        return data === undefined ? [] : [{ mime, data }];
      });

/** A URL that holds the image (RFC 2397). */
export const dataUrl = ({ mime, data }: ShownImage): string => `data:${mime};base64,${data}`;
