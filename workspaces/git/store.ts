// The store of a host: a bare git directory that all workspaces share, and who may use it when.
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { holdLock, holdShared, tryLock } from '../../system/lock';
import { Git } from './git-run';

const FOLDERS = ['objects/pack', 'objects/info', 'refs'];
const FILES = [
  ['config', '[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfilemode = true\n'],
  ['HEAD', 'ref: refs/heads/none\n'],
] as const;
/** Without one of these git does not take a folder for a git directory. */
const PARTS = ['HEAD', 'config', 'objects', 'refs'];
/** What git leaves if it is killed while it writes. */
const UNFINISHED = /^tmp_|^\.tmp-|\.lock$/;

/** A checkpoint does not keep a step waiting for longer. */
const WAIT_MS = 5_000;

/** Objects are being removed. */
export class StoreBusy extends Error {}

/** The reason of `AbortSignal.timeout`. */
export const isTimeout = (err: unknown): boolean => (err as Error | null)?.name === 'TimeoutError';

export class Store {
  readonly git: Git;
  private readonly lock: string;

  constructor(readonly folder: string) {
    this.git = new Git(join(folder, 'store.git'));
    this.lock = join(folder, 'store.lock');
  }

  /** Writes the few files and folders that make a folder a git directory, unless they are there. Throws what the disk says. */
  prepare(): void {
    const { gitDir } = this.git;
    if (PARTS.every((part) => existsSync(join(gitDir, part)))) return;
    // It was whole once: what somebody has removed is put back in its place.
    if (existsSync(gitDir)) return fill(gitDir);
    const made = `${gitDir}.${process.pid}.tmp`;
    rmSync(made, { recursive: true, force: true });
    fill(made);
    try {
      renameSync(made, gitDir);
    } catch (err) {
      // Another process was first.
      rmSync(made, { recursive: true, force: true });
      if (!existsSync(join(gitDir, 'HEAD'))) throw err;
    }
  }

  /** While many add objects and none are removed. Throws `StoreBusy`. */
  async adding<T>(work: () => Promise<T>): Promise<T> {
    const release = await holdShared(this.lock, { signal: AbortSignal.timeout(WAIT_MS) }).catch(
      (err: unknown) => {
        throw isTimeout(err) ? new StoreBusy('the store is being cleaned up') : err;
      },
    );
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** While no other process adds or removes objects. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const release = await holdLock(this.lock);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Removes what a killed or failed git left half written, if nothing is being added now. */
  sweep(): void {
    const release = tryLock(this.lock);
    if (!release) return;
    try {
      for (const folder of [this.git.gitDir, ...this.objectFolders()])
        for (const name of namesIn(folder))
          if (UNFINISHED.test(name) || name.startsWith('fast_import_crash_'))
            rmSync(join(folder, name), { recursive: true, force: true });
    } finally {
      release();
    }
  }

  /** Size of all objects in bytes. */
  bytes(): number {
    let bytes = 0;
    for (const folder of this.objectFolders())
      for (const name of namesIn(folder)) {
        const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
        if (stats?.isFile()) bytes += stats.size;
      }
    return bytes;
  }

  packs(): number {
    return namesIn(join(this.git.gitDir, 'objects', 'pack')).filter((name) => name.endsWith('.pack')).length;
  }

  private objectFolders(): string[] {
    const objects = join(this.git.gitDir, 'objects');
    return namesIn(objects).map((name) => join(objects, name));
  }
}

/** Adds what is missing, each file whole or not at all. */
function fill(gitDir: string): void {
  for (const name of FOLDERS) mkdirSync(join(gitDir, name), { recursive: true, mode: 0o700 });
  for (const [name, content] of FILES) {
    if (existsSync(join(gitDir, name))) continue;
    const temporary = join(gitDir, `.tmp-${name}-${process.pid}`);
    writeFileSync(temporary, content);
    renameSync(temporary, join(gitDir, name));
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
