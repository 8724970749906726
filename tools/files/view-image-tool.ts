// The tool `view_image`: shows an image file to the model. Scripts get the facts about it.
import type { FileHandle } from 'node:fs/promises';
import * as z from 'zod/mini';
import { imageFacts } from '../../contracts/tools/image-header';
import { IMAGE_MIMES, imageWords, MAX_IMAGE_BYTES } from '../../contracts/tools/images';
import { fileError, onHost, openRegular, pathText } from './host-files';
import { hostOf, type Tool } from '../tool';

const argsSchema = z.strictObject({
  path: pathText('Path of the image, absolute or relative to the working folder.'),
});

const resultSchema = z.object({
  path: z.string(),
  mime: z.enum(IMAGE_MIMES),
  bytes: z.int(),
  width: z.int().check(z.describe('In pixels, like the height.')),
  height: z.int(),
});

export const viewImageTool: Tool<z.infer<typeof argsSchema>, z.infer<typeof resultSchema>> = {
  name: 'view_image',
  description:
    'Shows you an image file, such as a screenshot or a plot: png, jpeg, gif (its first frame) or webp, up to 3.75 MiB ' +
    'and 8000 pixels wide and high.',
  args: argsSchema,
  result: resultSchema,
  effects: 'read_only',
  runsOn: 'host',
  usesFiles: true,
  needsSight: true,
  async run({ path }, context) {
    const { file } = await openRegular(onHost(hostOf(context), path));
    try {
      const data = await readAtMost(file, MAX_IMAGE_BYTES + 1);
      const facts = imageFacts(data, path);
      context.addImage?.(data);
      return { path, ...facts };
    } catch (err) {
      throw fileError(err, 'read', path);
    } finally {
      await file.close();
    }
  },
  text: (image) => `The image ${image.path}: ${imageWords(image)}.`,
};

/** A file may grow while it is read. */
async function readAtMost(file: FileHandle, maxBytes: number): Promise<Buffer> {
  const { size } = await file.stat();
  const data = Buffer.alloc(Math.min(size, maxBytes));
  let length = 0;
  for (let more = 1; more > 0 && length < data.length; length += more)
    more = (await file.read(data, length, data.length - length, length)).bytesRead;
  return data.subarray(0, length);
}
