// Reads files into a model's context, such as AGENTS.md; of a folder of skills only names and descriptions, so that the
// model reads the one it needs.
import { constants, type Stats } from 'node:fs';
import { open, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { fitText } from '../../contracts/payload-size';
import { splitFrontMatter } from '../../contracts/text/front-matter';
import { isWithin } from '../../exec/sandbox/profile';

const MAX_FILE_BYTES = 64_000;
const MAX_BYTES = 250_000;
/** Only the beginning of a larger file is read. */
const MAX_READ_BYTES = 1_000_000;

/** What a sandbox knows about paths; none of its paths contains a link. */
export interface ContextSandbox {
  /** Folders that code in it may write. */
  roots: readonly string[];
  /** Whether code in it can see the path. */
  shows: (path: string) => boolean;
}

/**
 * One text, with each file in tags that name it; null if none of the files exists.
 * @param sandbox of the host: links created in it cannot reveal hidden or outside files
 */
export async function readContext(
  cwd: string,
  paths: readonly string[],
  sandbox?: ContextSandbox,
): Promise<string | null> {
  const parts = await Promise.all(paths.map((path) => readOne(cwd, path, sandbox)));
  const found = parts.filter((part) => part !== null);
  if (found.length === 0) return null;
  return fitText(`These files apply to the whole conversation.\n\n${found.join('\n\n')}`, MAX_BYTES);
}

async function readOne(cwd: string, path: string, sandbox?: ContextSandbox): Promise<string | null> {
  const place = resolve(cwd, path);
  try {
    if ((await stat(place)).isDirectory()) return await readSkills(place, path, sandbox);
    const text = fitText(await readBeginning(place, sandbox), MAX_FILE_BYTES);
    return `<file path=${JSON.stringify(path)}>\n${text.trim()}\n</file>`;
  } catch {
    // Missing or unreadable: context is optional.
    return null;
  }
}

/** Throws unless it is a regular file: reading a pipe or a device could last for ever. */
async function readBeginning(place: string, sandbox?: ContextSandbox): Promise<string> {
  const file = await open(place, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    // Checks the open file: the path could lead elsewhere by the next look.
    if (sandbox && (await leadsOut(place, await readlink(`/proc/self/fd/${file.fd}`), sandbox)))
      throw new Error('a link leads out of the folders that the sandbox may write');
    const found: Stats = await file.stat();
    if (!found.isFile()) throw new Error('it is not a file');
    const bytes = Buffer.alloc(MAX_READ_BYTES);
    let length = 0;
    for (let more = 1; more > 0 && length < MAX_READ_BYTES; length += more)
      more = (await file.read(bytes, length, MAX_READ_BYTES - length, length)).bytesRead;
    const left = found.size - length;
    const text = bytes.toString('utf8', 0, length);
    return left > 0 ? `${fitText(text, MAX_FILE_BYTES)}\n[… ${left} bytes more are not shown …]` : text;
  } finally {
    await file.close();
  }
}

/** Whether `place` is where code in the sandbox can create links, and `file` is not one that this code could write. */
async function leadsOut(place: string, file: string, { roots, shows }: ContextSandbox): Promise<boolean> {
  // Also by its folder's real path: the working folder may be named through a link.
  const named = [place, join(await realpath(dirname(place)), basename(place))];
  const lies = (path: string): boolean => roots.some((root) => isWithin(path, root));
  return named.some(lies) && !(lies(file) && shows(file));
}

async function readSkills(folder: string, path: string, sandbox?: ContextSandbox): Promise<string | null> {
  const lines: string[] = [];
  for (const name of (await readdir(folder)).sort()) {
    const text = await readBeginning(join(folder, name, 'SKILL.md'), sandbox).catch(() => null);
    if (text !== null) lines.push(`- ${join(path, name, 'SKILL.md')}: ${describe(text) || name}`);
  }
  if (lines.length === 0) return null;
  return `<skills>\nRead a skill's file before you use the skill.\n${lines.join('\n')}\n</skills>`;
}

/** From the front matter in the Agent Skills format: `name` and `description`. */
function describe(text: string): string {
  try {
    const { matter } = splitFrontMatter(text);
    const { name, description } = (parse(matter) ?? {}) as { name?: unknown; description?: unknown };
    return [name, description].filter((part) => typeof part === 'string').join(': ');
  } catch {
    return '';
  }
}
