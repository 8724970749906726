// Makes a folder a worktree of a repository, as `git worktree add --detach --no-checkout` does (gitrepository-layout(5)),
// without running git there: the repository's configuration and hooks may name programs.
import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';

export interface Worktree {
  /** Its folder in the repository's git directory. */
  gitDir: string;
}

/**
 * @param of git directory of the repository, or of another worktree of it
 * @param name of its folder there; with a number behind it if another worktree has that name
 * @returns undefined where it cannot be one: the folder then is a plain copy
 */
export function addWorktree(of: string, folder: string, name: string): Worktree | undefined {
  const common = commonDirOf(of);
  const head = common && headOf(of, common);
  if (!common || head === undefined) return undefined;
  const worktrees = join(common, 'worktrees');
  // A link there would lead the files elsewhere.
  if (existsSync(worktrees) && !lstatSync(worktrees).isDirectory()) return undefined;
  const made = join(worktrees, `${name}.${randomBytes(4).toString('hex')}`);
  mkdirSync(made, { recursive: true });
  writeFileSync(join(made, 'commondir'), '../..\n');
  writeFileSync(join(made, 'gitdir'), `${join(folder, '.git')}\n`);
  writeFileSync(join(made, 'HEAD'), `${head}\n`);
  copyIndex(of, made);
  const gitDir = freeOrOwn(join(worktrees, name), folder);
  rmSync(gitDir, { recursive: true, force: true });
  renameSync(made, gitDir);
  writeFileSync(join(folder, '.git'), `gitdir: ${gitDir}\n`);
  return { gitDir };
}

/** Only what `addWorktree` made for this folder. */
export function removeWorktree({ gitDir }: Worktree, folder: string): void {
  if (isOf(gitDir, folder)) rmSync(gitDir, { recursive: true, force: true });
}

/** To be called before the folder itself is moved: after a death between the two, no other worktree takes its place. */
export function moveWorktree({ gitDir }: Worktree, from: string, to: string): void {
  if (!isOf(gitDir, from)) return;
  const made = join(gitDir, `gitdir.${randomBytes(4).toString('hex')}`);
  writeFileSync(made, `${join(to, '.git')}\n`, { flag: 'wx' });
  renameSync(made, join(gitDir, 'gitdir'));
}

/** Another worktree may have commits that nothing else leads to. */
function freeOrOwn(wanted: string, folder: string): string {
  for (let n = 1; ; n++) {
    const gitDir = n === 1 ? wanted : `${wanted}-${n}`;
    if (isOf(gitDir, folder) || !lstatSync(gitDir, { throwIfNoEntry: false })) return gitDir;
  }
}

const isOf = (gitDir: string, folder: string): boolean =>
  textOf(join(gitDir, 'gitdir'))?.trim() === join(folder, '.git');

function commonDirOf(gitDir: string): string | undefined {
  const named = textOf(join(gitDir, 'commondir'))?.trim();
  try {
    const common = realpathSync(resolve(gitDir, named ?? '.'));
    return lstatSync(join(common, 'objects')).isDirectory() ? common : undefined;
  } catch {
    return undefined;
  }
}

/** The commit, or the name of a branch without commits. Undefined if it cannot be told from files. */
function headOf(gitDir: string, common: string): string | undefined {
  const head = textOf(join(gitDir, 'HEAD'))?.trim();
  const [, ref] = /^ref: (refs\/[^\0]+)$/.exec(head ?? '') ?? [];
  if (ref === undefined) return head !== undefined && isHash(head) ? head : undefined;
  if (ref.split('/').includes('..')) return undefined;
  const loose = textOf(join(common, ref))?.trim();
  if (loose !== undefined) return isHash(loose) ? loose : undefined;
  const packed = textOf(join(common, 'packed-refs')) ?? '';
  const line = packed.split('\n').find((one) => one.endsWith(` ${ref}`));
  const hash = line?.split(' ')[0];
  if (hash !== undefined) return isHash(hash) ? hash : undefined;
  // Reftables are not files that we read.
  return existsSync(join(common, 'reftable')) ? undefined : head;
}

const isHash = (text: string): boolean => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text);

/** So that `git status` there knows the tracked files; what it knows of their times is wrong, and git sees that. */
function copyIndex(of: string, into: string): void {
  const index = join(of, 'index');
  if (existsSync(index) && lstatSync(index).isFile())
    copyFileSync(index, join(into, 'index'), constants.COPYFILE_FICLONE);
}

function textOf(path: string): string | undefined {
  try {
    return lstatSync(path).isFile() ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}
