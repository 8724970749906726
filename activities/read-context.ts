// Reads files that a model is to have in view, such as AGENTS.md; of a folder of skills only their names and what they
// are for, so that the model reads the one it needs.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { fitText } from '../contracts/payload-size';

const MAX_FILE_BYTES = 64_000;
const MAX_BYTES = 250_000;

/** One text, each file in tags that name it; null where none of them is there. */
export async function readContext(cwd: string, paths: readonly string[]): Promise<string | null> {
  const parts = await Promise.all(paths.map((path) => readOne(cwd, path)));
  const found = parts.filter((part) => part !== null);
  if (found.length === 0) return null;
  return fitText(`These files hold for the whole conversation.\n\n${found.join('\n\n')}`, MAX_BYTES);
}

async function readOne(cwd: string, path: string): Promise<string | null> {
  const place = resolve(cwd, path);
  try {
    if ((await stat(place)).isDirectory()) return await readSkills(place, path);
    const text = fitText(await readFile(place, 'utf8'), MAX_FILE_BYTES);
    return `<file path=${JSON.stringify(path)}>\n${text.trim()}\n</file>`;
  } catch {
    // Missing or not to be read: context is an offer.
    return null;
  }
}

async function readSkills(folder: string, path: string): Promise<string | null> {
  const lines: string[] = [];
  for (const name of (await readdir(folder)).sort()) {
    const text = await readFile(join(folder, name, 'SKILL.md'), 'utf8').catch(() => null);
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
