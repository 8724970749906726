// A disk of a few megabytes that a test fills and empties: a tmpfs, which only root may mount.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, rmdirSync, truncateSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** tmpfs gives space to files in pages of this size. */
export const PAGE_BYTES = 4_096;

export interface SmallDisk {
  path: string;
  /** Uses up all space except this many pages. */
  fill(freePages?: number): void;
  /** Gives back what `fill` took. */
  empty(): void;
  grow(megabytes: number): void;
  unmount(): void;
}

/** Undefined if a tmpfs may not be mounted. */
export function smallDisk(megabytes: number): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-disk-'));
  const mount = (options: string): boolean =>
    spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path]).status === 0;
  if (!mount(`size=${megabytes}m,mode=700`)) {
    rmdirSync(path);
    return undefined;
  }
  const filler = join(path, 'filler');
  return {
    path,
    fill(freePages = 0) {
      for (const size of [64 * PAGE_BYTES, PAGE_BYTES]) {
        while (append(filler, size));
      }
      truncateSync(filler, statSync(filler).size - freePages * PAGE_BYTES);
    },
    empty: () => rmSync(filler, { force: true }),
    grow: (to) => void mount(`remount,size=${to}m`),
    unmount() {
      spawnSync('umount', [path]);
      rmdirSync(path);
    },
  };
}

function append(path: string, bytes: number): boolean {
  try {
    appendFileSync(path, Buffer.alloc(bytes));
    return true;
  } catch {
    return false;
  }
}
