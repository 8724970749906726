// The images of conversations in the team's bucket, sealed like values. Equal images of an agent are one object.
import { randomBytes } from 'node:crypto';
import { checkedId } from '../../contracts/ids';
import type { BlobRef } from '../../contracts/tools/tools';
import { KEPT_MS, type BlobFile } from './blob-folder';
import { BlobRoom } from './blob-room';
import { hashOf } from './blob-store';
import { agentOf, listWithTime, type BucketObject, type BucketStoreOptions } from './bucket-store';
import { byAgent, IMAGES_COUNTED, outdated } from './image-files';
import { MARKS, mayGo, type AgentsServer } from './image-owners';

export class ImageObjects {
  private readonly room: BlobRoom;
  /** Marks that this process has put since the last prune. */
  private readonly marked = new Set<string>();

  constructor(private readonly options: Pick<BucketStoreOptions, 'bucket' | 'sealing' | 'limits'>) {
    const list = async (): Promise<BlobFile[]> => (await options.bucket.list()).flatMap(asImage);
    this.room = new BlobRoom({ list, removeSpare: () => false }, options.limits, IMAGES_COUNTED);
  }

  /**
   * The name of its object. Throws `values_full` and `bucket_failed`.
   * @param mark of the server that knows the agent
   */
  async keep(
    agent: string,
    content: Buffer,
    { signal, mark }: { signal: AbortSignal; mark: string | undefined },
  ): Promise<string> {
    const { bucket, sealing } = this.options;
    const object = this.nameOf(agent, hashOf(content)) ?? named(agent, randomBytes(32).toString('hex'));
    const room = await this.room.take(agent, content.length, 'arguments');
    try {
      if (mark !== undefined) await this.mark(agent, mark, signal);
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
  async prune(server: AgentsServer | null): Promise<void> {
    const { bucket } = this.options;
    this.marked.clear();
    const listed = await listWithTime(bucket);
    if (!listed) return;
    const { objects, now } = listed;
    for (const [agent, images] of byAgent(objects.flatMap(asImage))) {
      const folder = `${named(agent, MARKS)}/`;
      const found = objects.map(({ name }) => name).filter((name) => name.startsWith(folder));
      const marks = {
        list: () => Promise.resolve(found.map((name) => name.slice(folder.length))),
        add: (mark: string) => this.mark(agent, mark),
      };
      const isGone = server && ((): Promise<boolean> => mayGo(server, agent, marks));
      const old = await outdated(images, { isGone, now });
      for (const { path } of old) await bucket.remove(path);
      if (old.length === images.length) for (const name of found) await bucket.remove(name);
    }
  }

  private async mark(agent: string, mark: string, signal = new AbortController().signal): Promise<void> {
    const name = `${named(agent, MARKS)}/${mark}`;
    if (this.marked.has(name)) return;
    await this.options.bucket.put(name, Buffer.from('holdfast\n'), signal);
    this.marked.add(name);
  }
}

const named = (agent: string, name: string): string => `${checkedId('agent', agent)}/images/${name}`;

function asImage({ name, bytes, changedAt }: BucketObject): BlobFile[] {
  if (!/^[a-z0-9][a-z0-9_-]*\/images\/[0-9a-f]{64}$/.test(name)) return [];
  const expiresAt = changedAt + KEPT_MS;
  return [{ path: name, agent: agentOf(name), bytes, expiresAt, isSpare: false, isDraft: false }];
}
