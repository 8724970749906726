// What an agent may do with each file of one workspace, by its path there.
import { relative } from 'node:path';
import type { CoveredPath, FileAccess, FileReach } from '../../contracts/workspaces/file-reach';
import { bytePath, foldersOn, type BytePath } from '../byte-path';

export class ReachInside {
  /** Paths that are hidden from it, servers' sockets aside: those come and go. */
  readonly hidden: readonly BytePath[];
  /** What keeps it from the rest, for messages. */
  readonly limit: string;
  private readonly own: FileAccess;
  private readonly covered: ReadonlyMap<BytePath, FileAccess>;
  /** Folders that must stay where they are: what is covered in them would get another path. */
  private readonly pinned: ReadonlySet<BytePath>;

  /** @param root real path of the workspace */
  constructor(
    readonly reach: FileReach,
    root: string,
  ) {
    const covered = reach.coveredIn(root);
    const at = ({ path }: CoveredPath): BytePath => bytePath(relative(root, path));
    this.limit = reach.limit;
    this.own = reach.access(root);
    this.covered = new Map(covered.map((one) => [at(one), one.access]));
    this.pinned = new Set(covered.flatMap((one) => foldersOn(at(one))));
    this.hidden = covered.filter(({ access, isSocket }) => access === 'none' && !isSocket).map(at);
  }

  mayRead(path: BytePath): boolean {
    return this.access(path) !== 'none';
  }

  /** Whether it may make, change, replace and remove what is at a path. */
  mayChange(path: BytePath): boolean {
    return this.access(path) === 'write' && !this.covered.has(path) && !this.pinned.has(path);
  }

  /** Whether it may set the mode of a folder, and change what is in it. */
  mayChangeIn(folder: BytePath): boolean {
    return this.access(folder) === 'write';
  }

  private access(path: BytePath): FileAccess {
    for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
      const access = this.covered.get(at);
      if (access !== undefined) return access;
    }
    return this.own;
  }
}
