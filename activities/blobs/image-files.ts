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
import { mayGo, type AgentsServer } from './image-owners';

export const IMAGES_COUNTED = { of: 'conversations', are: 'images' };

export class ImageFiles {
  private readonly files: BlobFolder;
  private readonly room: BlobRoom;

  constructor(folder: string, limits: BlobLimits = DEFAULT_QUOTAS) {
    this.files = new BlobFolder(folder);
    const list = (): Promise<BlobFile[]> => this.files.listImages();
    this.room = new BlobRoom({ list, removeSpare: () => false }, limits, IMAGES_COUNTED);
  }

  /**
   * Throws `values_full` and `storage_failed`.
   * @param mark of the server that knows the agent
   */
  async keep(agent: string, content: Buffer, mark?: string): Promise<void> {
    const path = this.files.image(agent, hashOf(content));
    const isHere = this.files.use(path, content.length);
    const room = isHere ? undefined : await this.room.take(agent, content.length, 'arguments');
    try {
      if (mark !== undefined) await this.files.markImages(agent, mark);
      if (!isHere) await writeWhole(path, content);
      room?.fill();
    } catch (err) {
      room?.giveBack();
      throw new HoldfastError('storage_failed', { reason: storageReason(err) });
    }
  }

  /** Undefined if it is not here, or has changed. */
  async read(agent: string, ref: Pick<BlobRef, 'sha256' | 'bytes'>): Promise<Buffer | undefined> {
    const content = await readFile(this.files.image(agent, ref.sha256)).catch(() => undefined);
    return content && isOf(content, ref) ? content : undefined;
  }

  /** Removes the images of agents that are gone; if that cannot be known here, those that are older than any call. */
  async prune(server: AgentsServer | null, now: number): Promise<void> {
    const { files } = this;
    for (const [agent, images] of byAgent(await files.listImages(now))) {
      const marks = {
        list: () => files.imageMarks(agent),
        add: (mark: string) => files.markImages(agent, mark),
      };
      const isGone = server && ((): Promise<boolean> => mayGo(server, agent, marks));
      for (const { path } of await outdated(images, { isGone, now })) this.files.remove(path);
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

/** The images of an agent that cannot be asked for any more. */
export async function outdated<T extends Aged>(
  images: readonly T[],
  { isGone, now }: { isGone: (() => Promise<boolean>) | null; now: number },
): Promise<T[]> {
  const left = images.filter(({ isDraft, expiresAt }) => isDraft && expiresAt < now);
  const whole = images.filter(({ isDraft }) => !isDraft);
  if (!isGone) return [...left, ...whole.filter(({ expiresAt }) => expiresAt < now)];
  // One that has just been stored may be of an agent that began a moment ago.
  const isRecent = whole.some(({ expiresAt }) => expiresAt - KEPT_MS + SPARE_MS > now);
  return isRecent || whole.length === 0 || !(await isGone()) ? left : [...left, ...whole];
}
