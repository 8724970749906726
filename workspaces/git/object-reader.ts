// Reads objects of the store: one `git cat-file` for as many as are asked for, one after the other.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { fromBytes, type BytePath } from '../byte-path';
import { readFacts, type TreeFacts } from './facts';
import { checkHash, GitFailure, lastWords, type Git } from './git-run';

/** A recorded state. */
export interface Recorded {
  hash: string;
  tree: string;
  facts: TreeFacts;
}

/** git knows it without having it. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Whether it is of an empty folder. */
export const isNothing = ({ tree, facts }: Recorded): boolean =>
  tree === EMPTY_TREE && facts.empty.size === 0 && facts.left.size === 0;

/** Throws `checkpoint_missing`. */
export async function readCheckpoint(git: Git, hash: string): Promise<Recorded> {
  checkHash(hash);
  try {
    const text = fromBytes(await git.run(['cat-file', 'commit', hash]));
    const tree = /^tree ([0-9a-f]{40})$/m.exec(text)?.[1] ?? '';
    return { hash, tree, facts: readFacts(text.slice(text.indexOf('\n\n') + 2)) };
  } catch (err) {
    if (err instanceof GitFailure || err instanceof SyntaxError)
      throw new HoldfastError('checkpoint_missing', { got: hash });
    throw err;
  }
}

/** Those that are in the store. One look at it, however many they are. */
export async function checkpointsThere(
  git: Git,
  hashes: readonly string[],
): Promise<{ hash: string; tree: string }[]> {
  for (const hash of hashes) checkHash(hash);
  const input = Buffer.from(hashes.map((hash) => `${hash}^{tree}\n`).join(''));
  const trees = fromBytes(await git.run(['cat-file', '--batch-check=%(objectname)'], { input })).split('\n');
  return hashes.flatMap((hash, index) => {
    const tree = trees[index] ?? '';
    return /^[0-9a-f]{40}$/.test(tree) ? [{ hash, tree }] : [];
  });
}

/** Those that the store does not have. */
export async function missingOf(git: Git, ids: readonly string[]): Promise<string[]> {
  const input = Buffer.from(ids.map((id) => `${id}\n`).join(''));
  const found = fromBytes(await git.run(['cat-file', '--batch-check'], { input }));
  return [...found.matchAll(/^([0-9a-f]{40}) missing$/gm)].map(([, id = '']) => id);
}

/** Whether a commit is in the store with all that it leads to. Throws `GitFailure` if git fails for another reason. */
export async function isWhole(git: Git, commit: string): Promise<boolean> {
  try {
    await git.run(['rev-list', '--objects', '--quiet', commit]);
    return true;
  } catch (err) {
    if (!(err instanceof GitFailure)) throw err;
    // It may be short of memory, for instance.
    const missing = await missingOf(git, err.said.match(/\b[0-9a-f]{40}\b/g) ?? []);
    if (missing.length === 0) throw err;
    return false;
  }
}

/** One side of a difference between two trees. */
export interface TreeEntry {
  mode: number;
  oid: string;
}

export interface TreeDifference {
  path: BytePath;
  before: TreeEntry | null;
  after: TreeEntry | null;
}

/** What differs between two trees, by path. */
export async function treeDifferences(git: Git, from: string, to: string): Promise<TreeDifference[]> {
  const output = await git.run(['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to]);
  const parts = fromBytes(output).split('\0');
  const found: TreeDifference[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [oldMode = '', newMode = '', oldOid = '', newOid = ''] = (parts[at] ?? '').slice(1).split(' ');
    found.push({
      path: parts[at + 1] ?? '',
      before: entryOf(oldMode, oldOid),
      after: entryOf(newMode, newOid),
    });
  }
  return found;
}

const entryOf = (mode: string, oid: string): TreeEntry | null =>
  mode === '000000' ? null : { mode: parseInt(mode, 8), oid };

/** All files and links of a tree. */
export const filesIn = (git: Git, tree: string): Promise<BytePath[]> => pathsIn(git, [tree]);

/** All folders of a tree. */
export const foldersIn = (git: Git, tree: string): Promise<BytePath[]> => pathsIn(git, ['-d', tree]);

async function pathsIn(git: Git, which: readonly string[]): Promise<BytePath[]> {
  if (which.includes(EMPTY_TREE)) return [];
  return fromBytes(await git.run(['ls-tree', '-r', '-z', '--name-only', ...which]))
    .split('\0')
    .slice(0, -1);
}

export class ObjectReader implements Disposable {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly said: () => string;
  private readonly output: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(git: Git) {
    this.child = git.start(['cat-file', '--batch']);
    this.said = lastWords(this.child);
    // One that cannot be started has no output: a reader hears of that.
    this.child.on('error', () => undefined);
    this.child.stdin.on('error', () => undefined);
    this.output = this.child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** The content, piece by piece: all of it is to be taken before the next one. Throws `GitFailure`. */
  async *pieces(oid: string): AsyncGenerator<Buffer> {
    this.child.stdin.write(`${oid}\n`);
    let end: number;
    while ((end = this.rest.indexOf('\n')) === -1) await this.more();
    const header = this.rest.toString('latin1', 0, end);
    this.rest = this.rest.subarray(end + 1);
    const size = / blob (\d+)$/.exec(header)?.[1];
    if (size === undefined) throw new GitFailure('cat-file', 'no content', header);
    for (let left = Number(size); left > 0;) {
      if (this.rest.length === 0) await this.more();
      const piece = this.rest.subarray(0, left);
      this.rest = this.rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
    if (this.rest.length === 0) await this.more();
    this.rest = this.rest.subarray(1);
  }

  async whole(oid: string): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.pieces(oid)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  [Symbol.dispose](): void {
    this.child.kill('SIGKILL');
  }

  private async more(): Promise<void> {
    const next = await this.output.next();
    if (next.done) throw new GitFailure('cat-file', 'its end', this.said());
    this.rest = this.rest.length === 0 ? next.value : Buffer.concat([this.rest, next.value]);
  }
}
