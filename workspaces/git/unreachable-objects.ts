// Removes the objects that no ref leads to. When this process is killed, the lock of the store is released, but a git that it
// started goes on. So git only adds the pack of what stays, and this process itself removes the rest.
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { flushFolder } from '../../system/json-file';
import type { Git } from './git-run';

/** Files of that size are not compared with each other to save room: it takes long. */
export const QUICKLY = ['core.bigFileThreshold=4m'];

const ALL = ['pack-objects', '-q', '--all', '--reflog', '--non-empty', '--delta-base-offset'];

/** To be called while no other process adds or removes objects. Throws `GitFailure` if a ref leads to what is gone. */
export async function removeUnreachable(git: Git): Promise<void> {
  const objects = join(git.gitDir, 'objects');
  const packs = join(objects, 'pack');
  const before = readdirSync(packs);
  const hashes = await git.run([...ALL, join(packs, 'pack')], { settings: QUICKLY });
  flushFolder(packs);
  const added = new Set(
    hashes
      .toString()
      .split('\n')
      .map((hash) => `pack-${hash}`),
  );
  const gone = before.filter((name) => !added.has(name.split('.')[0] ?? ''));
  // The index of a pack first: without it git does not look for the rest.
  for (const name of gone.toSorted((a, b) => Number(b.endsWith('.idx')) - Number(a.endsWith('.idx'))))
    await rm(join(packs, name), { recursive: true, force: true });
  // Those that stay are in the pack, too.
  for (const name of readdirSync(objects))
    if (/^[0-9a-f]{2}$/.test(name)) await rm(join(objects, name), { recursive: true, force: true });
}
