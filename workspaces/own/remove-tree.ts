// Removes a folder that an agent has worked in. Programs leave folders there in which not even their owner may write, such
// as Go's cache of modules.
import { chmodSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Breather } from '../../system/processes/breather';
import { joined, type BytePath } from '../byte-path';
import { Inside, isDenied } from '../files/inside';

const OWNER_ALL = 0o700;
const OWNER_LOOKS = 0o500;

/**
 * With all that is in it, also in folders that are read-only. Follows no link. One that is not there is no error.
 * @param unseen also folders that this user may not look into: no checkpoint knows what is in them
 */
export async function removeTree(root: string, { unseen }: { unseen: boolean }): Promise<void> {
  const remove = (): Promise<void> => rm(root, { recursive: true, force: true });
  await remove().catch(async (err: unknown) => {
    if (!isDenied(err)) throw err;
    await openFolders(root, unseen ? 0 : OWNER_LOOKS);
    await remove();
  });
}

/** Lets this user change the folders in it that have at least these permissions. */
async function openFolders(root: string, least: number): Promise<void> {
  using inside = new Inside(root);
  const breather = new Breather();
  const pending: BytePath[] = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    await breather.breathe();
    try {
      pending.push(...openFolder(inside, folder, least));
    } catch {
      // Another user's, for example. Removing it says so.
    }
  }
}

/** Returns the folders in it. */
function openFolder(inside: Inside, folder: BytePath, least: number): BytePath[] {
  const mode = Number(inside.folderStats(folder)?.mode ?? 0);
  const place = inside.folderPlace(folder);
  if (place === undefined || (mode & least) !== least) return [];
  if ((mode & OWNER_ALL) !== OWNER_ALL) chmodSync(place, mode | OWNER_ALL);
  const entries = inside.entries(folder) ?? [];
  return entries.filter(({ isFolder }) => isFolder).map(({ name }) => joined(folder, name));
}
