// The tool `list_dir`: the entries of a folder.
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { fileError, onHost, pathText, wholeNumber } from './host-files';
import { hostOf, type Tool } from '../tool';

/** Further entries are not read, and the listing says so. */
const MAX_ENTRIES = 20_000;
const DEFAULT_LIMIT = 500;
const MAX_LIMIT = 5_000;

const argsSchema = z.strictObject({
  dir_path: z._default(
    pathText('Path of the folder, absolute or relative to the working folder. Default: that folder.'),
    '.',
  ),
  offset: z._default(wholeNumber(1, MAX_ENTRIES, 'First entry to return, counted from 1.'), 1),
  limit: z._default(wholeNumber(1, MAX_LIMIT, 'Most entries to return.'), DEFAULT_LIMIT),
  depth: z._default(wholeNumber(1, 20, 'How many levels of folders to list; 1: only the folder itself.'), 1),
});

const resultSchema = z.object({
  entries: z.array(
    z.object({
      path: z.string().check(z.describe('Relative to the listed folder.')),
      type: z.enum(['file', 'directory', 'symlink', 'other']),
    }),
  ),
  total: z.int().check(z.describe('Total entries; more than `entries` if there are further pages.')),
  truncated: z
    .boolean()
    .check(z.describe(`Whether there are more than ${MAX_ENTRIES}, which are not counted.`)),
});
type Listing = z.infer<typeof resultSchema>;
type Entry = Listing['entries'][number];

export const listDirTool: Tool<z.infer<typeof argsSchema>, Listing> = {
  name: 'list_dir',
  description:
    'Lists a folder, sorted by name, each entry with its type; "depth" lists folders below it as well. Symbolic ' +
    'links are listed and not followed.',
  args: argsSchema,
  result: resultSchema,
  effects: 'read_only',
  runsOn: 'host',
  usesFiles: true,
  async run({ dir_path: path, offset, limit, depth }, context) {
    const entries: Entry[] = [];
    try {
      await list(onHost(hostOf(context), path), '', depth, { entries, signal: context.signal });
    } catch (err) {
      throw fileError(err, 'listed', path);
    }
    const truncated = entries.length > MAX_ENTRIES;
    const total = Math.min(entries.length, MAX_ENTRIES);
    return { entries: entries.slice(offset - 1, Math.min(offset - 1 + limit, total)), total, truncated };
  },
  text({ entries, total, truncated }) {
    const lines = entries.map(({ path, type }) => `${path}${MARKS[type]}`);
    const more = entries.length < total || truncated;
    const count = `${total}${truncated ? ' or more' : ''}`;
    const note = more
      ? [`[${entries.length} of ${count} entries; use offset, limit, depth to see the others]`]
      : [];
    return [...lines, ...note].join('\n') || '[empty]';
  },
};

const MARKS: Record<Entry['type'], string> = { file: '', directory: '/', symlink: '@', other: '?' };

async function list(
  folder: string,
  below: string,
  depth: number,
  found: { entries: Entry[]; signal: AbortSignal },
): Promise<void> {
  found.signal.throwIfAborted();
  const children = await readdir(folder, { withFileTypes: true });
  children.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const child of children) {
    if (found.entries.length > MAX_ENTRIES) return;
    const type = typeOf(child);
    found.entries.push({ path: below + child.name, type });
    if (type !== 'directory' || depth === 1) continue;
    try {
      await list(join(folder, child.name), `${below}${child.name}/`, depth - 1, found);
    } catch (err) {
      // An unreadable or vanished folder hides only itself, not the others.
      if (!['EACCES', 'ENOENT', 'EPERM'].includes((err as NodeJS.ErrnoException).code ?? '')) throw err;
    }
  }
}

function typeOf(entry: Dirent): Entry['type'] {
  if (entry.isSymbolicLink()) return 'symlink';
  if (entry.isDirectory()) return 'directory';
  return entry.isFile() ? 'file' : 'other';
}
