// Makes a folder a worktree of a repository, as `git worktree add --detach --no-checkout` does (gitrepository-layout(5)),
// without running git there: the repository's configuration and hooks may name programs. Code in the workspace may change the
// repository meanwhile, so no link in it is followed.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { bytePath, joined, type BytePath } from '../byte-path';
import { Inside, isAway, withPlace } from '../files/inside';
import type { Repository } from '../look/repository';

export interface Worktree {
  /** Its folder in the repository's git directory. */
  gitDir: string;
}

const WORKTREES = 'worktrees';
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * @param name of its folder in the repository; with a number behind it if another worktree has that name
 * @returns undefined where it cannot be one: the folder then is a plain copy
 */
export function addWorktree(repository: Repository, folder: string, name: string): Worktree | undefined {
  if (!repository.mayChange) return undefined;
  using shared = new Inside(repository.common);
  using own = new Inside(repository.gitDir);
  const head = headOf(own, shared);
  if (head === undefined || !shared.folderStats('objects')) return undefined;
  if (!shared.stats(WORKTREES)) withPlace(shared.place(WORKTREES), (place) => mkdirSync(place));
  // What is no folder leads elsewhere, or nowhere.
  if (!shared.folderStats(WORKTREES)) return undefined;
  const made = `${WORKTREES}/${bytePath(name)}.${randomBytes(4).toString('hex')}`;
  withPlace(shared.place(made), (place) => mkdirSync(place));
  writeNew(shared, `${made}/commondir`, '../..\n');
  writeNew(shared, `${made}/gitdir`, `${join(folder, '.git')}\n`);
  writeNew(shared, `${made}/HEAD`, `${head}\n`);
  // So that `git status` there knows the tracked files; what it knows of their times is wrong, and git sees that.
  const index = contentOf(own, 'index');
  if (index) writeNew(shared, `${made}/index`, index);
  const place = freeOrOwn(shared, `${WORKTREES}/${bytePath(name)}`, folder);
  withPlace(shared.place(place), (path) => rmSync(path, { recursive: true, force: true }));
  rename(shared, made, place);
  const gitDir = join(repository.common, Buffer.from(place, 'latin1').toString('utf8'));
  writeFileSync(join(folder, '.git'), `gitdir: ${gitDir}\n`, { flag: 'wx' });
  return { gitDir };
}

/** Only what `addWorktree` made for this folder. */
export function removeWorktree(worktree: Worktree, folder: string): void {
  atWorktree(worktree, folder, (worktrees, name) =>
    withPlace(worktrees.place(name), (place) => rmSync(place, { recursive: true, force: true })),
  );
}

/** To be called before the folder itself is moved: after a death between the two, no other worktree takes its place. */
export function moveWorktree(worktree: Worktree, from: string, to: string): void {
  atWorktree(worktree, from, (worktrees, name) => {
    const made = `${name}/gitdir.${randomBytes(4).toString('hex')}`;
    writeNew(worktrees, made, `${join(to, '.git')}\n`);
    rename(worktrees, made, `${name}/gitdir`);
  });
}

/** Does nothing if it is no longer that of the folder. */
function atWorktree(
  { gitDir }: Worktree,
  folder: string,
  work: (worktrees: Inside, name: BytePath) => void,
): void {
  try {
    using worktrees = new Inside(dirname(gitDir));
    const name = bytePath(basename(gitDir));
    if (isOf(worktrees, name, folder)) work(worktrees, name);
  } catch (err) {
    if (!isAway(err)) throw err;
  }
}

/** Another worktree may have commits that nothing else leads to. */
function freeOrOwn(inside: Inside, wanted: BytePath, folder: string): BytePath {
  for (let n = 1; ; n++) {
    const place = n === 1 ? wanted : `${wanted}-${n}`;
    if (isOf(inside, place, folder) || !inside.stats(place)) return place;
  }
}

const isOf = (inside: Inside, place: BytePath, folder: string): boolean =>
  textOf(inside, joined(place, 'gitdir'))?.trim() === join(folder, '.git');

/** The commit, or the name of a branch without commits. Undefined if files do not show it. */
function headOf(own: Inside, shared: Inside): string | undefined {
  const head = textOf(own, 'HEAD')?.trim();
  const [, ref] = /^ref: (refs\/[^\0]+)$/.exec(head ?? '') ?? [];
  if (ref === undefined) return head !== undefined && isHash(head) ? head : undefined;
  if (ref.split('/').includes('..')) return undefined;
  const loose = textOf(shared, bytePath(ref))?.trim();
  if (loose !== undefined) return isHash(loose) ? loose : undefined;
  const packed = textOf(shared, 'packed-refs') ?? '';
  const line = packed.split('\n').find((one) => one.endsWith(` ${ref}`));
  const hash = line?.split(' ')[0];
  if (hash !== undefined) return isHash(hash) ? hash : undefined;
  // Reftables are not files that we read.
  return shared.stats('reftable') ? undefined : head;
}

const isHash = (text: string): boolean => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text);

const textOf = (inside: Inside, path: BytePath): string | undefined =>
  contentOf(inside, path)?.toString('utf8');

/** The content of a regular file; undefined if there is none. */
function contentOf(inside: Inside, path: BytePath): Buffer | undefined {
  const place = inside.place(path);
  if (place === undefined) return undefined;
  let fd: number | undefined;
  try {
    fd = openSync(place, READ);
    return fstatSync(fd).isFile() ? readFileSync(fd) : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

const writeNew = (inside: Inside, path: BytePath, content: string | Buffer): void =>
  withPlace(inside.place(path), (place) => writeFileSync(place, content, { flag: 'wx' }));

/** In the same folder. */
const rename = (inside: Inside, from: BytePath, to: BytePath): void =>
  withPlace(inside.place(from), (old) => withPlace(inside.place(to), (place) => renameSync(old, place)));
