// The shape of an image in a conversation, for docs/schemas and the HTTP API.
import { IMAGE_MIMES } from '../tools/images';
import { z } from './zod';

export const imageRef = z.object({
  sha256: z.string(),
  bytes: z.int(),
  at: z.optional(z.string()),
  object: z.optional(z.string()),
  mime: z.enum(IMAGE_MIMES),
  width: z.int(),
  height: z.int(),
});
