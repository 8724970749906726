// The images of conversations in the data folder: one folder for each agent. They stay as long as the conversation can
// name them, so they are counted apart from the values of calls: those must not be refused for them.
import { readFile } from 'node:fs/promises';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { DEFAULT_QUOTAS } from '../../contracts/sessions/quotas';
import type { BlobRef } from '../../contracts/tools/tools';
import { storageReason } from '../../system/storage-failure';
import { BlobFolder, KEPT_MS, SPARE_MS, type BlobFile } from './blob-folder';
import { BlobRoom, type BlobLimits } from './blob-room';
import { hashOf, isOf, writeWhole } from './blob-store';

export const IMAGES_COUNTED = { of: 'conversations', are: 'images' };

/** Whether nobody can ask for the conversation of this agent any more. */
export type IsGone = (agent: string) => Promise<boolean>;

export class ImageFiles {
  private readonly files: BlobFolder;
  private readonly room: BlobRoom;

  constructor(folder: string, limits: BlobLimits = DEFAULT_QUOTAS) {
    this.files = new BlobFolder(folder);
    const list = (): Promise<BlobFile[]> => this.files.listImages();
    this.room = new BlobRoom({ list, removeSpare: () => false }, limits, IMAGES_COUNTED);
  }

  /** Throws `values_full` and `storage_failed`. */
  async keep(agent: string, content: Buffer): Promise<void> {
    const path = this.files.image(agent, hashOf(content));
    if (this.files.use(path, content.length)) return;
    const room = await this.room.take(agent, content.length, 'arguments');
    try {
      await writeWhole(path, content);
      room.fill();
    } catch (err) {
      room.giveBack();
      throw new HoldfastError('storage_failed', { reason: storageReason(err) });
    }
  }

  /** Undefined if it is not here, or has changed. */
  async read(agent: string, ref: Pick<BlobRef, 'sha256' | 'bytes'>): Promise<Buffer | undefined> {
    const content = await readFile(this.files.image(agent, ref.sha256)).catch(() => undefined);
    return content && isOf(content, ref) ? content : undefined;
  }

  /** Removes the images of agents that are gone; if that cannot be known here, those that are older than any call. */
  async prune(isGone: IsGone | null, now: number): Promise<void> {
    for (const [agent, images] of byAgent(await this.files.listImages(now))) {
      for (const { path } of await outdated(agent, images, { isGone, now })) this.files.remove(path);
      await this.files.tidyImages(agent);
    }
  }
}

interface Aged {
  agent: string | null;
  /** `KEPT_MS` after it was stored. */
  expiresAt: number;
  isDraft: boolean;
}

export function byAgent<T extends Aged>(images: readonly T[]): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const image of images)
    if (image.agent !== null) found.set(image.agent, [...(found.get(image.agent) ?? []), image]);
  return found;
}

/** Those of an agent's images that nobody can ask for any more. */
export async function outdated<T extends Aged>(
  agent: string,
  images: readonly T[],
  { isGone, now }: { isGone: IsGone | null; now: number },
): Promise<T[]> {
  const left = images.filter(({ isDraft, expiresAt }) => isDraft && expiresAt < now);
  const whole = images.filter(({ isDraft }) => !isDraft);
  if (!isGone) return [...left, ...whole.filter(({ expiresAt }) => expiresAt < now)];
  // One that has just been stored may be of an agent that began a moment ago.
  const isRecent = whole.some(({ expiresAt }) => expiresAt - KEPT_MS + SPARE_MS > now);
  return isRecent || whole.length === 0 || !(await isGone(agent)) ? left : [...left, ...whole];
}
