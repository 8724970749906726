// Roles of sub-agents: files that a person writes. `reviewer.md` holds a Reviewer's instructions, below a front matter
// with the model and the tools that it gets.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { limitsSchema } from '../../contracts/schemas/agent';
import { splitFrontMatter } from '../../contracts/text/front-matter';
import { parseWith } from '../../contracts/schemas/parse';
import { toolNamesSchema } from '../../contracts/schemas/session';

const matterSchema = z.strictObject({
  description: z.optional(z.string()),
  model: z.optional(z.string()),
  tools: z.optional(toolNamesSchema),
  limits: z.optional(limitsSchema),
});

export interface Role extends z.infer<typeof matterSchema> {
  instructions: string;
}

/**
 * The role with this name, in any case; a role without a file gets only its name. Throws `config_invalid` for an
 * invalid file.
 */
export async function findRole(folder: string | undefined, name: string): Promise<Role> {
  const file = folder && (await fileOf(folder, name));
  if (!file)
    return { instructions: `You are ${name}. Do the task that you are given, and answer with its result.` };
  try {
    const text = await readFile(file, 'utf8');
    const { matter, body } = splitFrontMatter(text);
    return { ...parseWith(matterSchema, 'The front matter', parse(matter) ?? {}), instructions: body.trim() };
  } catch (err) {
    throw new HoldfastError('config_invalid', { faults: `${file}: ${reasonOf(err)}` });
  }
}

/** Found by listing the folder: what a model wrote never becomes part of a path. */
async function fileOf(folder: string, name: string): Promise<string | undefined> {
  const files = await readdir(folder).catch(() => []);
  const wanted = slug(name);
  // A name of signs alone would fit any other.
  if (wanted === '-') return undefined;
  const found = files.find((file) => file.endsWith('.md') && slug(file.slice(0, -'.md'.length)) === wanted);
  return found && join(folder, found);
}

const slug = (name: string): string =>
  name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-');
