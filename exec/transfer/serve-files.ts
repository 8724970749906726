// Answers one request for files, on the host: in a process of its own, which the host's sandbox confines.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { ChannelLost, type Channel } from './channel';
import type { FilesRequest, Name } from './transfer-messages';
import { resolved, split } from './names';
import { OpenFolder } from './open-folder';
import { CONTENT_ID, PartialFile } from './receiver/partial-file';
import { receiveTree } from './receiver/receive-tree';
import { sendTree } from './sender/send-tree';
import { fileErrorOf, sentError } from './transfer-errors';

export interface FilesConfig {
  /** The host's working folder. */
  cwd: Name;
  /** Folders that the sandbox makes anew for each program. */
  privateFolders: Name[];
  /** As the host's access allows it: no request goes beyond. */
  effect: 'looks' | 'mutates';
}

/** Never rejects: the client gets the error. */
export async function serveFiles(
  channel: Channel,
  request: FilesRequest,
  config: FilesConfig,
): Promise<void> {
  try {
    await answer(channel, request, config);
  } catch (err) {
    if (err instanceof ChannelLost) return;
    const known = fileErrorOf(err, request.is === 'put' ? 'written' : 'read', request.path);
    await channel.send({ is: 'fatal', error: sentError(known) }).catch(() => undefined);
  }
}

async function answer(channel: Channel, request: FilesRequest, config: FilesConfig): Promise<void> {
  const path = resolved(config.cwd, request);
  if (request.is === 'get') {
    const { only, range, digest } = request;
    return sendTree(channel, { path, only, range, digest });
  }
  if (request.is === 'uploaded') {
    await channel.send({ is: 'there', bytes: uploaded(path, request) });
    return;
  }
  if (config.effect !== 'mutates') throw new HoldfastError('internal', { reason: 'it may only look' });
  const { clobber, only } = request;
  const lostOn = config.privateFolders.flatMap(deviceOf);
  // The agent's folder itself: it must be there, or the entry would take its place.
  const target = request.path === '' ? `${path}/.` : path;
  await receiveTree(channel, { target, clobber, only, lostOn });
}

function uploaded(path: Name, { id, size }: { id: string; size: number }): number {
  if (!CONTENT_ID.test(id)) throw new HoldfastError('internal', { reason: 'its id is none' });
  const folder = OpenFolder.at(split(path).folder);
  try {
    return PartialFile.sizeOf(folder, { id, size });
  } finally {
    folder.close();
  }
}

function deviceOf(path: Name): number[] {
  try {
    const folder = OpenFolder.at(path);
    const { device } = folder;
    folder.close();
    return [device];
  } catch {
    return [];
  }
}
