// The tool `write_file`: writes the whole content of a file.
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { prepareWrite } from './atomic-write';
import { refuseChangedSince } from './changed-since';
import { fileError, onHost, pathText, withoutHalves } from './host-files';
import { makeFolders } from '../../system/make-folder';
import { hostOf, type Tool } from '../tool';

const argsSchema = z.strictObject({
  file_path: pathText('Path of the file, absolute or relative to the working folder.'),
  content: z.string().check(withoutHalves, z.describe('The whole text; it replaces the previous content.')),
  create_dirs: z._default(z.boolean(), false).check(z.describe('Whether to create missing folders.')),
});
const resultSchema = z.object({ bytes: z.int().check(z.describe('The new length of the file.')) });

export const writeFileTool: Tool<z.infer<typeof argsSchema>, z.infer<typeof resultSchema>> = {
  name: 'write_file',
  description:
    'Writes a text file as UTF-8, atomically: nobody ever reads half of it. An existing file keeps its mode, a ' +
    'symbolic link is followed. To change part of a file, use apply_patch.',
  args: argsSchema,
  result: resultSchema,
  // Writing the same content again gives the same file.
  effects: 'idempotent',
  runsOn: 'host',
  usesFiles: true,
  async run({ file_path: path, content, create_dirs: createDirs }, context) {
    const full = onHost(hostOf(context), path);
    try {
      if (createDirs) await makeFolders(dirname(full));
      await refuseChangedSince(context.askedAt, full, { path, content });
      const prepared = await prepareWrite(full, content);
      try {
        await prepared.commit();
      } catch (err) {
        await prepared.discard();
        throw err;
      }
    } catch (err) {
      throw fileError(err, 'written', path, 'Set create_dirs to create the folder, or look with list_dir.');
    }
    return { bytes: Buffer.byteLength(content) };
  },
  text: ({ bytes }) => `Written: ${bytes} bytes.`,
};
