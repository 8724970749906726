// The images of conversations in the team's bucket, sealed like values. Equal images of an agent are one object.
import { randomBytes } from 'node:crypto';
import { checkedId } from '../../contracts/ids';
import type { BlobRef } from '../../contracts/tools/tools';
import { KEPT_MS, type BlobFile } from './blob-folder';
import { BlobRoom } from './blob-room';
import { hashOf } from './blob-store';
import { agentOf, type BucketObject, type BucketStoreOptions } from './bucket-store';
import { byAgent, IMAGES_COUNTED, outdated, type IsGone } from './image-files';

export class ImageObjects {
  private readonly room: BlobRoom;

  constructor(private readonly options: Pick<BucketStoreOptions, 'bucket' | 'sealing' | 'limits'>) {
    const list = async (): Promise<BlobFile[]> => (await options.bucket.list()).flatMap(asImage);
    this.room = new BlobRoom({ list, removeSpare: () => false }, options.limits, IMAGES_COUNTED);
  }

  /** The name of its object. Throws `values_full` and `bucket_failed`. */
  async keep(agent: string, content: Buffer, signal: AbortSignal): Promise<string> {
    const { bucket, sealing } = this.options;
    const object = this.nameOf(agent, hashOf(content)) ?? named(agent, randomBytes(32).toString('hex'));
    const room = await this.room.take(agent, content.length, 'arguments');
    try {
      await bucket.put(object, await sealing.seal(content, agent), signal);
      room.fill();
    } catch (err) {
      room.giveBack();
      throw err;
    }
    return object;
  }

  /** Where an image with this content is, if it is there; undefined if names are random. */
  nameOf(agent: string, sha256: BlobRef['sha256']): string | undefined {
    const mark = this.options.sealing.fingerprint(JSON.stringify(['image', agent, sha256]));
    return mark === undefined ? undefined : named(agent, hashOf(Buffer.from(mark)));
  }

  /** See `ImageFiles.prune`. */
  async prune(isGone: IsGone | null, now: number): Promise<void> {
    const { bucket } = this.options;
    for (const [agent, images] of byAgent((await bucket.list()).flatMap(asImage)))
      for (const { path } of await outdated(agent, images, { isGone, now })) await bucket.remove(path);
  }
}

const named = (agent: string, name: string): string => `${checkedId('agent', agent)}/images/${name}`;

function asImage({ name, bytes, changedAt }: BucketObject): BlobFile[] {
  if (!/^[a-z0-9][a-z0-9_-]*\/images\/[0-9a-f]{64}$/.test(name)) return [];
  const expiresAt = changedAt + KEPT_MS;
  return [{ path: name, agent: agentOf(name), bytes, expiresAt, isSpare: false, isDraft: false }];
}
