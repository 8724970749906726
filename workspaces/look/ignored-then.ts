// Which files the ignore rules of a recorded state hide. It says nothing of them: they may have been there, so bringing it
// back leaves them alone.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bytePath, foldersOn, fromBytes, nameOf, shownPath, toBytes, type BytePath } from '../byte-path';
import { LINK_MODE } from '../git/facts';
import type { Git } from '../git/git-run';
import { ignoredPaths } from '../git/ignored-paths';
import { ObjectReader, type Recorded } from '../git/object-reader';
import { below } from './git-looks';
import { readText } from './regular-file';
import type { Surroundings } from './surroundings';

const RULES = '.gitignore';

export interface RulesThen {
  around: Surroundings;
  /** A file with the patterns of the repository's `info/exclude`: as they are now, like all that is above the workspace. */
  excludeFile: string;
  /** Patterns of ignored files that were recorded all the same. */
  include: readonly string[];
  /** A folder for files of a moment. */
  scratch: string;
}

export async function ignoredThen(
  git: Git,
  { tree }: Recorded,
  paths: readonly BytePath[],
  { around, excludeFile, include, scratch }: RulesThen,
): Promise<Set<BytePath>> {
  const made = mkdtempSync(join(scratch, 'rules-'));
  const [workTree, empty, patterns] = ['then', 'empty', 'include'].map((name) => join(made, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [workTree, empty]) mkdirSync(folder);
  const top = bytePath(workTree);
  const write = (folder: BytePath, content: Buffer | string): void => {
    mkdirSync(toBytes(`${top}/${folder}`), { recursive: true });
    writeFileSync(toBytes(`${top}/${folder}${RULES}`), content);
  };
  try {
    for (const folder of ['', ...foldersOn(around.prefix)].map((one) => one && `${one}/`)) {
      const text =
        folder === around.prefix ? undefined : readText(`${around.top}/${shownPath(folder)}${RULES}`);
      if (text !== undefined) write(folder, text);
    }
    using objects = new ObjectReader(git);
    for (const [path, oid] of await rulesIn(git, tree))
      write(around.prefix + path.slice(0, -RULES.length), await objects.whole(oid));
    const { prefix } = around;
    const hidden = await ignored(git, paths, { prefix, excludeFile, workTree });
    if (hidden.size === 0 || include.length === 0) return hidden;
    writeFileSync(patterns, include.map((pattern) => `${below(prefix, pattern)}\n`).join(''));
    const included = await ignored(git, paths, { prefix, excludeFile: patterns, workTree: empty });
    return new Set([...hidden].filter((path) => !included.has(path)));
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** The files of rules in a tree, with their contents' ids. git follows no links to rules. */
async function rulesIn(git: Git, tree: string): Promise<[BytePath, string][]> {
  const lines = fromBytes(await git.run(['ls-tree', '-r', '-z', tree]))
    .split('\0')
    .slice(0, -1);
  return lines.flatMap((line): [BytePath, string][] => {
    const path = line.slice(line.indexOf('\t') + 1);
    const [mode = '', , oid = ''] = line.slice(0, line.indexOf('\t')).split(' ');
    return nameOf(path) === RULES && parseInt(mode, 8) !== LINK_MODE ? [[path, oid]] : [];
  });
}

async function ignored(
  git: Git,
  paths: readonly BytePath[],
  { prefix, excludeFile, workTree }: { prefix: BytePath; excludeFile: string; workTree: string },
): Promise<Set<BytePath>> {
  const rules = { workTree, index: join(workTree, 'no-index'), cwd: workTree, excludeFile };
  const below = paths.map((path) => `${prefix}${path}`);
  const hidden = await ignoredPaths(git, below, rules);
  return new Set([...hidden].map((path) => path.slice(prefix.length)));
}
