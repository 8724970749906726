// Reads files that a model is to have in view, such as AGENTS.md; of a folder of skills only their names and what they
// are for, so that the model reads the one it needs.
import { constants, type Stats } from 'node:fs';
import { open, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { fitText } from '../contracts/payload-size';
import { isWithin } from '../exec/sandbox/profile';

const MAX_FILE_BYTES = 64_000;
const MAX_BYTES = 250_000;
/** Of a file that is larger its beginning is read. */
const MAX_READ_BYTES = 1_000_000;

/** What a sandbox says of paths; all of them lead through no link. */
export interface ContextSandbox {
  /** Folders that code in it may write. */
  roots: readonly string[];
  /** Whether code in it sees what lies there. */
  shows: (path: string) => boolean;
}

/**
 * One text, each file in tags that name it; null where none of them is there.
 * @param sandbox of the host: links that were made in it lead to nothing that it hides, and to nothing outside
 */
export async function readContext(
  cwd: string,
  paths: readonly string[],
  sandbox?: ContextSandbox,
): Promise<string | null> {
  const parts = await Promise.all(paths.map((path) => readOne(cwd, path, sandbox)));
  const found = parts.filter((part) => part !== null);
  if (found.length === 0) return null;
  return fitText(`These files hold for the whole conversation.\n\n${found.join('\n\n')}`, MAX_BYTES);
}

async function readOne(cwd: string, path: string, sandbox?: ContextSandbox): Promise<string | null> {
  const place = resolve(cwd, path);
  try {
    if ((await stat(place)).isDirectory()) return await readSkills(place, path, sandbox);
    const text = fitText(await readBeginning(place, sandbox), MAX_FILE_BYTES);
    return `<file path=${JSON.stringify(path)}>\n${text.trim()}\n</file>`;
  } catch {
    // Missing or not to be read: context is an offer.
    return null;
  }
}

/** Throws for what is no file: a pipe would be waited for, a device read, for ever. */
async function readBeginning(place: string, sandbox?: ContextSandbox): Promise<string> {
  const file = await open(place, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    // Asked of the file that is open: a path could lead elsewhere by the next look.
    if (sandbox && (await leadsOut(place, await readlink(`/proc/self/fd/${file.fd}`), sandbox)))
      throw new Error('a link leads out of what the sandbox may write');
    const found: Stats = await file.stat();
    if (!found.isFile()) throw new Error('it is no file');
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

/** Whether `place` lies where code in the sandbox makes links, and `file` is none that this code may write. */
async function leadsOut(place: string, file: string, { roots, shows }: ContextSandbox): Promise<boolean> {
  // By its folder's real place, too: the working folder may be named through a link.
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
  return `<skills>\nRead the file of a skill before you do what it is for.\n${lines.join('\n')}\n</skills>`;
}

/** Of the front matter, as the Agent Skills format has it: `name` and `description`. */
function describe(text: string): string {
  const [, matter = ''] = /^---\n([^]*?)\n---/.exec(text) ?? [];
  try {
    const { name, description } = (parse(matter) ?? {}) as { name?: unknown; description?: unknown };
    return [name, description].filter((part) => typeof part === 'string').join(': ');
  } catch {
    return '';
  }
}
