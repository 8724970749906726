// Reads files into a model's context, such as AGENTS.md; of a folder of skills only names and descriptions, so that the
// model reads the one it needs.
import { constants, type Stats } from 'node:fs';
import { open, readdir, readlink, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { fitText } from '../../contracts/payload-size';
import { splitFrontMatter } from '../../contracts/text/front-matter';
import type { FileReach } from '../../contracts/workspaces/file-reach';

const MAX_FILE_BYTES = 64_000;
const MAX_BYTES = 250_000;
/** Only the beginning of a larger file is read. */
const MAX_READ_BYTES = 1_000_000;

/**
 * One text, with each file in tags that name it; null if none of the files exists.
 * @param reach of the agent: what it may not read is missing, also behind a link
 */
export async function readContext(
  cwd: string,
  paths: readonly string[],
  reach: FileReach,
): Promise<string | null> {
  const parts = await Promise.all(paths.map((path) => readOne(cwd, path, reach)));
  const found = parts.filter((part) => part !== null);
  if (found.length === 0) return null;
  return fitText(`These files apply to the whole conversation.\n\n${found.join('\n\n')}`, MAX_BYTES);
}

async function readOne(cwd: string, path: string, reach: FileReach): Promise<string | null> {
  const place = resolve(cwd, path);
  try {
    if ((await stat(place)).isDirectory()) return await readSkills(place, path, reach);
    const text = fitText(await readBeginning(place, reach), MAX_FILE_BYTES);
    return `<file path=${JSON.stringify(path)}>\n${text.trim()}\n</file>`;
  } catch {
    // Missing or unreadable: context is optional.
    return null;
  }
}

/** Throws unless it is a regular file: reading a pipe or a device could last for ever. */
async function readBeginning(place: string, reach: FileReach): Promise<string> {
  const file = await open(place, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found: Stats = await file.stat();
    if (!found.isFile()) throw new Error('it is not a file');
    // Decides about the open file: the path could lead elsewhere by the next look.
    if (!reach.mayRead(await readlink(`/proc/self/fd/${file.fd}`), found))
      throw new Error('the agent may not read it');
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

async function readSkills(folder: string, path: string, reach: FileReach): Promise<string | null> {
  const lines: string[] = [];
  for (const name of (await readdir(folder)).sort()) {
    const text = await readBeginning(join(folder, name, 'SKILL.md'), reach).catch(() => null);
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
