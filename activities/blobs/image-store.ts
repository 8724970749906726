// The images that conversations refer to: kept in the bucket or the data folder for as long as the server knows the
// agent. One that another machine made is fetched when a model first sees it, and kept here from then on.
import type { ImageFacts, ImageRef } from '../../contracts/tools/images';
import { isOf, hashOf, whyUnreachable, type BlobPlace } from './blob-store';
import type { BucketStore } from './bucket-store';
import type { ImageFiles } from './image-files';
import type { ImageObjects } from './image-objects';
import { markOf, type AgentsServer } from './image-owners';

const PRUNE_EVERY_MS = 6 * 3_600_000;
/** In base64 characters. Every model call of a conversation needs its images again. */
const CACHED_CHARACTERS = 32 * 1024 * 1024;
/** How long it is believed that an image cannot be had: each model call would wait for its machine. */
const UNREACHABLE_MS = 60_000;

export interface ImagePlaces {
  files: ImageFiles;
  /** Null without a bucket, like the next. */
  objects: ImageObjects | null;
  bucket: Pick<BucketStore, 'read'> | null;
  place: BlobPlace;
  /** Null where agents are not known: a host in a namespace of its own. */
  server: AgentsServer | null;
}

export class ImageStore {
  /** In base64, by agent and hash; the one used last is the last. */
  private readonly cache = new Map<string, string>();
  private cachedCharacters = 0;
  private readonly unreachable = new Map<string, { until: number; reason: Error }>();
  private prunedAt = -Infinity;

  constructor(private readonly places: ImagePlaces) {}

  /** Throws `values_full`, `storage_failed` and `bucket_failed`. */
  async keep(agent: string, content: Buffer, facts: ImageFacts, signal: AbortSignal): Promise<ImageRef> {
    const { files, objects, place, server } = this.places;
    const owner = await server?.owner();
    const mark = owner === undefined ? undefined : markOf(owner);
    const object = await objects?.keep(agent, content, { signal, mark });
    if (object === undefined) await files.keep(agent, content, mark);
    const { mime, bytes, width, height } = facts;
    const ref = { sha256: hashOf(content), mime, bytes, width, height, at: place.at };
    return object === undefined ? ref : { ...ref, object };
  }

  /** In base64. Throws the reason if it is gone, or cannot be reached now. */
  async read(agent: string, ref: ImageRef, signal: AbortSignal): Promise<string> {
    const key = `${agent}/${ref.sha256}`;
    const known = this.cache.get(key);
    if (known !== undefined) {
      this.cache.delete(key);
      this.cache.set(key, known);
      return known;
    }
    const failed = this.unreachable.get(key);
    if (failed && failed.until > Date.now()) throw failed.reason;
    try {
      const data = (await this.find(agent, ref, signal)).toString('base64');
      this.unreachable.delete(key);
      this.remember(key, data);
      return data;
    } catch (err) {
      signal.throwIfAborted();
      const reason = new Error(whyUnreachable(err));
      this.unreachable.set(key, { until: Date.now() + UNREACHABLE_MS, reason });
      throw reason;
    }
  }

  /** Keeps an image of one agent's conversation for another one, which starts with its messages. Throws like `read`. */
  async adopt(ref: ImageRef, agents: { from: string; to: string }, signal: AbortSignal): Promise<ImageRef> {
    const content = Buffer.from(await this.read(agents.from, ref, signal), 'base64');
    return this.keep(agents.to, content, ref, signal);
  }

  /** Removes images that no conversation can name any more. */
  async prune(now = Date.now()): Promise<void> {
    if (now - this.prunedAt < PRUNE_EVERY_MS) return;
    const { files, objects, server } = this.places;
    await files.prune(server, now);
    await objects?.prune(server);
    for (const [key, { until }] of this.unreachable) if (until < now) this.unreachable.delete(key);
    this.prunedAt = now;
  }

  private async find(agent: string, ref: ImageRef, signal: AbortSignal): Promise<Buffer> {
    const { files, objects, bucket, place } = this.places;
    const here = await files.read(agent, ref);
    if (here) return here;
    const object = ref.object ?? objects?.nameOf(agent, ref.sha256);
    if (bucket && object !== undefined)
      try {
        return await bucket.read({ ...ref, object }, signal, agent);
      } catch (err) {
        if (ref.object !== undefined) throw err;
      }
    const { at } = ref;
    if (at === undefined || at === place.at) throw new Error('it no longer exists, or has changed');
    const content = await place.fetch({ ...ref, at }, signal);
    if (!isOf(content, ref)) throw new Error('the received image differs from the one that was stored');
    // Its machine may be gone tomorrow. If it cannot be kept, it is fetched again.
    await this.keep(agent, content, ref, signal).catch(() => undefined);
    return content;
  }

  private remember(key: string, data: string): void {
    this.cachedCharacters += data.length - (this.cache.get(key)?.length ?? 0);
    this.cache.set(key, data);
    for (const [oldest, { length }] of this.cache) {
      if (this.cachedCharacters <= CACHED_CHARACTERS) return;
      this.cache.delete(oldest);
      this.cachedCharacters -= length;
    }
  }
}
