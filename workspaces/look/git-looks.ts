// What git says of a workspace: which files may have changed, which are new, what is ignored. git only reads here, and
// only names come back: contents are read by us.
import { bytePath, fromBytes, isKeepable, shownPath, type BytePath } from '../byte-path';
import type { ReachInside } from '../files/reach-inside';
import { GitFailure, type Git } from '../git/git-run';
import { ignoredPaths } from '../git/ignored-paths';
import type { Surroundings } from './surroundings';

/** The workspace has more files than it may have. */
export class TooManyFiles extends Error {}

export interface Rules {
  /** A file with the patterns of the repository's `info/exclude`. */
  excludeFile: string;
  /** Patterns of ignored files that are recorded all the same. */
  include: readonly string[];
  reach: ReachInside;
  maxFiles: number;
  /**
   * Of one run of git, and of all that ask about ignored folders together. The files are read between two of them, which
   * takes as long as it takes.
   */
  lookMs: number;
}

export class GitLooks {
  /** What the questions about ignored folders have taken so far. */
  private askedMs = 0;

  constructor(
    private readonly git: Git,
    private readonly around: Surroundings,
    private readonly rules: Rules,
  ) {}

  /** A file that does not exist is an empty index. */
  private get noIndex(): string {
    return `${this.rules.excludeFile}.no-index`;
  }

  /** Files of the index that are not as the index says. */
  async changed(index: string): Promise<BytePath[]> {
    const { prefix } = this.around;
    // Each is `:modes, ids, kind`, then its path from the top.
    const parts = await this.names(['diff-files', '--raw', '-z', '--no-renames'], index, this.around.root);
    return parts.filter((_part, at) => at % 2 === 1).map((path) => path.slice(prefix.length));
  }

  /** Files that are not in the index and not ignored. Throws `TooManyFiles`. */
  async others(index: string): Promise<BytePath[]> {
    const { root, top, prefix } = this.around;
    const hidden = this.rules.reach.hidden.map((path) => `--exclude=/${escaped(prefix + path)}`);
    const listed = await this.names(
      ['ls-files', '-o', '-z', '--exclude-standard', ...hidden],
      index,
      root,
      top,
    );
    const found: BytePath[] = [];
    for (const path of listed)
      if (path.endsWith('/')) found.push(...(await this.nested(path.slice(0, -1))));
      else found.push(path);
    return found.filter((path) => this.isRecordable(path));
  }

  /** Files of the configured patterns, ignored or not, that are not in the index. */
  async included(index: string): Promise<BytePath[]> {
    const { root, top, prefix } = this.around;
    if (this.rules.include.length === 0) return [];
    const patterns = this.rules.include.map((pattern) => `--exclude=${below(prefix, pattern)}`);
    const listed = await this.names(['ls-files', '-o', '-i', '-z', ...patterns], index, root, top);
    return listed.filter((path) => !path.endsWith('/') && this.isRecordable(path));
  }

  /** Files that the user's repository tracks though they are ignored; none if its index cannot be read. */
  async trackedThoughIgnored(): Promise<BytePath[]> {
    const { index, root } = this.around;
    if (!index) return [];
    try {
      const listed = await this.names(['ls-files', '-c', '-i', '-z', '--exclude-standard'], index.path, root);
      return listed.filter((path) => this.isRecordable(path));
    } catch (err) {
      if (!(err instanceof GitFailure)) throw err;
      return [];
    }
  }

  /** Which of these folders are ignored. Asked once for each level: in a deep chain of folders that adds up. */
  async ignored(folders: readonly BytePath[]): Promise<Set<BytePath>> {
    const asked = folders.filter((folder) => this.isRecordable(folder));
    const refused = folders.filter((folder) => !this.isRecordable(folder));
    if (asked.length === 0) return new Set(refused);
    const { excludeFile } = this.rules;
    const { top: workTree, root: cwd } = this.around;
    // The slash is for patterns that are for folders only.
    const named = asked.map((folder) => `${folder}/`);
    const began = performance.now();
    const rules = { workTree, index: this.noIndex, cwd, excludeFile, signal: this.time(this.askedMs) };
    const ignored = [...(await ignoredPaths(this.git, named, rules))].map((path) => path.slice(0, -1));
    this.askedMs += performance.now() - began;
    return new Set([...refused, ...ignored]);
  }

  /** Whether a path may be recorded at all. */
  isRecordable(path: BytePath): boolean {
    return isKeepable(path) && this.rules.reach.mayRead(path);
  }

  /** A repository in the workspace: git names only its folder. Its files are recorded like others. */
  private async nested(folder: BytePath): Promise<BytePath[]> {
    const path = shownPath(folder);
    // The path of a process's folder is a string.
    if (bytePath(path) !== folder || !this.isRecordable(folder)) return [];
    const workTree = `${this.around.root}/${path}`;
    try {
      const listed = await this.names(
        ['ls-files', '-o', '-z', '--exclude-standard'],
        this.noIndex,
        workTree,
        workTree,
      );
      const found: BytePath[] = [];
      for (const name of listed)
        if (name.endsWith('/')) found.push(...(await this.nested(`${folder}/${name.slice(0, -1)}`)));
        else found.push(`${folder}/${name}`);
      return found;
    } catch (err) {
      // It has gone meanwhile.
      if ((err as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw err;
    }
  }

  private async names(
    args: string[],
    index: string,
    cwd: string,
    workTree = this.around.top,
  ): Promise<BytePath[]> {
    let count = 0;
    const chunks: Buffer[] = [];
    await this.run(args, { index, cwd, workTree }, (chunk) => {
      chunks.push(chunk);
      for (let at = chunk.indexOf(0); at !== -1; at = chunk.indexOf(0, at + 1)) count++;
      return count <= 2 * this.rules.maxFiles;
    });
    if (count > 2 * this.rules.maxFiles) throw new TooManyFiles();
    return partsOf(Buffer.concat(chunks));
  }

  private time(usedMs = 0): AbortSignal {
    return AbortSignal.timeout(Math.max(0, Math.ceil(this.rules.lookMs - usedMs)));
  }

  private run(
    args: string[],
    where: { index: string; cwd: string; workTree?: string },
    onOutput?: (chunk: Buffer) => boolean,
  ): Promise<Buffer> {
    const { index, cwd, workTree = this.around.top } = where;
    return this.git.run(args, {
      look: { workTree, index, cwd },
      settings: [`core.excludesFile=${this.rules.excludeFile}`],
      signal: this.time(),
      ...(onOutput && { onOutput }),
    });
  }
}

const partsOf = (output: Buffer): BytePath[] => fromBytes(output).split('\0').slice(0, -1);

const escaped = (path: BytePath): string => shownPath(path).replace(/[\\*?[\]! #]/g, '\\$&');

/** A pattern of the workspace as one of the top: with a slash before its end it begins at the workspace. */
export function below(prefix: BytePath, pattern: string): string {
  const isAnchored = pattern.slice(0, -1).includes('/');
  return isAnchored ? `/${escaped(prefix)}${pattern.replace(/^\//, '')}` : pattern;
}
