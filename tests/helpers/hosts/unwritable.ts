// Folders that cannot be written, though the tests run as root, for whom modes mean nothing.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Way {
  name: string;
  /** What is to be had for it. */
  needs: string;
  forbid: (folder: string) => void;
  allow: (folder: string) => void;
}

const run = (program: string, ...args: string[]): void => void execFileSync(program, args, { stdio: 'pipe' });

/** Processes that run already see it, too: they find their files by path. */
export const readOnlyMount: Way = {
  name: 'a read-only mount',
  needs: 'mount, which only root may do',
  forbid: (folder) => {
    // Mounted read-only where nothing writes: the folder itself cannot be, while a process has a file open there.
    const aside = mkdtempSync(join(tmpdir(), 'holdfast-unwritable-'));
    run('mount', '--bind', folder, aside);
    try {
      run('mount', '-o', 'remount,bind,ro', aside);
      run('mount', '--bind', aside, folder);
    } finally {
      run('umount', aside);
      rmdirSync(aside);
    }
  },
  // Lazily: a process that has a file open there keeps it.
  allow: (folder) => run('umount', '--lazy', folder),
};

/** Open files can be written on all the same, by some file systems. */
export const immutableFiles: Way = {
  name: 'immutable files',
  needs: 'chattr +i, which only root may do, and not on every file system',
  // Sockets and links have no such flag, which it calls a failure.
  forbid: (folder) => void spawnSync('chattr', ['-R', '-f', '+i', folder]),
  allow: (folder) => void spawnSync('chattr', ['-R', '-f', '-i', folder]),
};

/** Whether this machine supports it: tried on a separate folder. */
export function isPossible({ forbid, allow }: Way): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-unwritable-'));
  try {
    forbid(folder);
    return spawnSync('touch', [join(folder, 'file')]).status !== 0;
  } catch {
    return false;
  } finally {
    try {
      allow(folder);
    } catch {
      // It was not forbidden.
    }
    rmSync(folder, { recursive: true, force: true });
  }
}
