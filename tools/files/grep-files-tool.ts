// The tool `grep_files`: the lines of files that match a regular expression.
import { stat } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import * as z from 'zod/mini';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { includedFiles } from './grep/included-files';
import { searchWithRipgrep } from './grep/ripgrep';
import type { Match } from './grep/search';
import { searchInNode } from './grep/search-in-node';
import { walkFiles } from './grep/walk-files';
import { clipText } from '../programs/head-tail';
import {
  fileError,
  isAtHome,
  kindOf,
  notRegular,
  onHost,
  pathText,
  plainText,
  wholeNumber,
} from './host-files';
import { hostOf, type Tool, type ToolContext } from '../tool';
import { shortened } from '../../contracts/text/well-formed';

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 10_000;
/** Limit for a matching line; longer ones are not written by hand. */
const MAX_LINE_CHARACTERS = 500;
const MAX_FILES = 200_000;
const SHOWN_BYTES = 32 * 1024;

const argsSchema = z.strictObject({
  pattern: plainText(
    'Regular expression; each line is searched separately. A leading (?i) ignores case.',
  ).check(
    z.minLength(1),
    z.refine<string>((text) => !text.includes('\n'), { error: 'must not hold a line break' }),
  ),
  include: z.optional(
    pathText(
      'Only files that match this pattern, such as *.rs, *.{ts,tsx} or src/**/*.py (from the folder searched).',
    ),
  ),
  path: z._default(pathText('Folder or file to search. Default: the working folder.'), '.'),
  limit: z._default(wholeNumber(1, MAX_LIMIT, 'Most matches to return.'), DEFAULT_LIMIT),
});
type Args = z.infer<typeof argsSchema>;

const resultSchema = z.object({
  matches: z.array(
    z.object({
      file: z.string().check(z.describe('As read_file accepts it.')),
      line: z.int().check(z.describe('Counted from 1.')),
      text: z.string(),
    }),
  ),
  truncated: z.boolean().check(z.describe('Whether there are more matches than the limit.')),
});
type Found = z.infer<typeof resultSchema>;

export const grepFilesTool: Tool<Args, Found> = {
  name: 'grep_files',
  description:
    'Searches the text files below a folder for a regular expression. Files that .gitignore excludes, the folder ' +
    '.git, binary files and symbolic links are not searched.',
  args: argsSchema,
  result: resultSchema,
  effects: 'read_only',
  runsOn: 'host',
  usesFiles: true,
  async run({ pattern, include, path, limit }, context) {
    const { cwd, env } = hostOf(context);
    const files = await filesOf({ include, path }, context);
    const request = { pattern, files, limit: limit + 1, env, signal: context.signal };
    const found = (await searchWithRipgrep(request)) ?? (await searchInNode(request));
    // Paths in the caller's form: absolute, or from the working folder.
    const matches = found.slice(0, limit).map(({ file, line, text }) => ({
      file: isAbsolute(path) || isAtHome(path) ? file : relative(cwd, file),
      line,
      text: shorten(text.replace(/\r?\n?$/, '')),
    }));
    return { matches, truncated: found.length > limit };
  },
  text({ matches, truncated }) {
    const lines = matches.map(({ file, line, text }: Match) => `${file}:${line}:${text}`).join('\n');
    const more = truncated ? '\n[there are more: narrow the search, or raise the limit]' : '';
    return clipText(lines || 'No matches.', SHOWN_BYTES) + more;
  },
};

const shorten = (text: string): string => shortened(text, MAX_LINE_CHARACTERS);

async function filesOf(
  { include, path }: Pick<Args, 'include' | 'path'>,
  context: ToolContext,
): Promise<string[]> {
  const full = onHost(hostOf(context), path);
  const stats = await stat(full).catch((err: unknown) => {
    throw fileError(err, 'listed', path);
  });
  if (stats.isFile()) return [full];
  if (!stats.isDirectory()) throw notRegular(path, kindOf(stats));
  const all = walkFiles(full, context.signal);
  const files: string[] = [];
  for await (const file of include === undefined ? all : includedFiles(all, full, include)) {
    if (files.push(file) > MAX_FILES)
      throw new HoldfastError('invalid_input', {
        what: 'The argument "path"',
        got: `${path} with more than ${MAX_FILES} files`,
        allowed: 'a smaller folder',
        next: 'Name a folder below it, or narrow it with include.',
      });
  }
  return files;
}
