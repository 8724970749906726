// The files below a folder to search: regular files that no .gitignore excludes, in a fixed order.
import { constants, existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { Breather } from '../../../system/processes/breather';
import { openRegular } from '../host-files';

/** Longer rules are not written by hand; each costs time for each file. */
const MAX_RULES_BYTES = 1_048_576;

interface Rules {
  folder: string;
  rules: Ignore;
}

/**
 * Full paths. Symbolic links are not followed, to avoid cycles; unreadable folders count as empty. Throws the reason of an
 * aborted signal.
 */
export async function* walkFiles(folder: string, signal: AbortSignal): AsyncGenerator<string> {
  // Many rules and many files can take minutes, and none of it waits for anything.
  const breather = new Breather();
  const pause = async (): Promise<void> => {
    await breather.breathe();
    signal.throwIfAborted();
  };
  yield* walk(folder, await rulesAbove(folder), pause);
}

async function* walk(
  folder: string,
  above: readonly Rules[],
  pause: () => Promise<void>,
): AsyncGenerator<string> {
  await pause();
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const rules = [...above, ...(await rulesOf(folder))];
  for (const entry of entries) {
    await pause();
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== '.git' && !isIgnored(`${path}/`, rules))
      yield* walk(path, rules, pause);
    else if (entry.isFile() && !isIgnored(path, rules)) yield path;
  }
}

/**
 * Rules of parent folders count up to the root of the repository, as in git. Not if they exclude the folder itself: who
 * names it wants what is in it.
 */
async function rulesAbove(folder: string): Promise<Rules[]> {
  const rules: Rules[] = [];
  for (let at = folder; !existsSync(join(at, '.git'));) {
    const parent = dirname(at);
    if (parent === at) return [];
    at = parent;
    rules.unshift(...(await rulesOf(at)));
  }
  return isIgnored(`${folder}/`, rules) ? [] : rules;
}

async function rulesOf(folder: string): Promise<Rules[]> {
  const text = await rulesText(join(folder, '.gitignore')).catch(() => '');
  return text === '' ? [] : [{ folder, rules: ignore().add(text) }];
}

/**
 * Anything may have this name: a pipe without a writer would be waited for until the process is killed. Links are not
 * followed, as in git.
 */
async function rulesText(path: string): Promise<string> {
  const { file, stats } = await openRegular(path, constants.O_NOFOLLOW);
  await using opened = file;
  return stats.size > MAX_RULES_BYTES ? '' : opened.readFile('utf8');
}

/** The nearest rules decide. */
function isIgnored(path: string, rules: readonly Rules[]): boolean {
  for (const one of rules.toReversed()) {
    const { ignored, unignored } = one.rules.test(
      relative(one.folder, path) + (path.endsWith('/') ? '/' : ''),
    );
    if (ignored || unignored) return ignored;
  }
  return false;
}
