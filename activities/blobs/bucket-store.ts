// Large values in a bucket that all machines of a team reach: a value survives the machine that made it. Each call has
// its own objects, so that no machine needs to know whether another one uses the same value.
import { randomBytes } from 'node:crypto';
import type { BlobRef } from '../../contracts/tools/tools';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { checkedId } from '../../contracts/ids';
import { KEPT_MS, SPARE_MS, type BlobFile } from './blob-folder';
import { BlobRoom, type BlobLimits } from './blob-room';
import { hashOf, isOf } from './blob-store';

/** After a write that succeeded, the next check needs none. */
const CHECKED_MS = 10_000;
/** For a check of quotas, which every call makes. */
const ANSWER_MS = 1_000;
const PRUNE_EVERY_MS = 6 * 3_600_000;
/** Not a possible agent name. */
const PROBE = '.probe/holdfast';

/** What the team's store can do. All throw `bucket_failed`, after they have repeated what may pass by itself. */
export interface Bucket {
  /** Shown to people: where it is, without credentials. */
  readonly url: string;
  put(name: string, content: Buffer, signal: AbortSignal): Promise<void>;
  /** Undefined if there is no such object. */
  get(name: string, signal: AbortSignal): Promise<Buffer | undefined>;
  /** Also succeeds if there is no such object. */
  remove(name: string): Promise<void>;
  list(): Promise<BucketObject[]>;
}

export interface BucketObject {
  /** As it was put. */
  name: string;
  bytes: number;
  /** In milliseconds since 1970. */
  changedAt: number;
}

/** A script's call, as far as its values are concerned. */
export interface ValueOwner {
  agent: string;
  /** The same for every attempt of the call. */
  id: string;
}

/** How values are encrypted before they leave the process. */
export interface Sealing {
  seal(content: Buffer, agent: string): Promise<Buffer>;
  /** Throws the codec's errors. */
  open(sealed: Buffer, agent: string): Promise<Buffer>;
  /** Reveals nothing of the text to anyone without the key; undefined if the codec cannot do that. */
  fingerprint(text: string): string | undefined;
}

export interface BucketStoreOptions {
  bucket: Bucket;
  sealing: Sealing;
  limits: BlobLimits;
  /** Task queue of this worker: machines without access to the bucket ask there. */
  at: string;
  warn: (message: string, facts: object) => void;
}

export class BucketStore {
  private readonly room: BlobRoom;
  /** Arguments of calls that this process serves. */
  private readonly needed = new Set<string>();
  /** Results that a machine without a bucket has fetched, and when: it cannot remove them. */
  private readonly fetched = new Map<string, number>();
  /** A check of a quota has waited in vain, and still does. */
  private isSilent = false;
  private writtenAt = -Infinity;
  private prunedAt = -Infinity;

  constructor(private readonly options: BucketStoreOptions) {
    const { bucket, limits } = options;
    const list = async (): Promise<BlobFile[]> => (await bucket.list()).flatMap(asFile);
    this.room = new BlobRoom({ list, removeSpare: () => false }, limits);
  }

  /** Throws `bucket_failed` and `values_full`. */
  async keep(
    { agent, id }: ValueOwner,
    content: Buffer,
    kind: 'arguments' | 'result',
    signal: AbortSignal,
  ): Promise<BlobRef> {
    const { bucket, sealing, at } = this.options;
    const sha256 = hashOf(content);
    const mark = sealing.fingerprint(JSON.stringify([kind, id, sha256]));
    // A call that is sent again finds its own object.
    const name = mark === undefined ? randomBytes(32).toString('hex') : hashOf(Buffer.from(mark));
    const object = `${checkedId('agent', agent)}/${name}`;
    try {
      const room = await this.room.take(agent, content.length, kind);
      try {
        await bucket.put(object, await sealing.seal(content, agent), signal);
        room.fill();
      } catch (err) {
        room.giveBack();
        throw err;
      }
    } catch (err) {
      throw kind === 'arguments' ? beforeAnything(err) : err;
    }
    this.writtenAt = Date.now();
    if (kind === 'arguments') this.needed.add(object);
    return { sha256, bytes: content.length, at, object };
  }

  /** For calls of any agent if none is named. Throws the reason if it is gone, has changed or is of another agent. */
  async read(
    { object = '', ...ref }: Pick<BlobRef, 'sha256' | 'object'> & { bytes?: number },
    signal: AbortSignal,
    agent = agentOf(object),
  ): Promise<Buffer> {
    if (agentOf(object) !== agent) throw new Error('it belongs to another agent');
    const sealed = await this.options.bucket.get(object, signal);
    if (!sealed) throw new Error(`it is no longer in ${this.options.bucket.url}`);
    const content = await this.options.sealing.open(sealed, agent);
    if (!isOf(content, { bytes: content.length, ...ref })) throw new Error('it has changed');
    return content;
  }

  /**
   * Throws `values_full`. While the bucket does not answer no call is refused for that: most calls have no large values,
   * and need no bucket.
   */
  async checkQuota(agent: string): Promise<void> {
    if (this.isSilent) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => resolve(void (this.isSilent = true)), ANSWER_MS);
    });
    const checked = this.room
      .checkAgent(agent)
      .catch((err: unknown) => {
        if (!isBucketFailure(err)) throw err;
      })
      .finally(() => {
        clearTimeout(timer);
        this.isSilent = false;
      });
    await Promise.race([checked, late]);
  }

  async checkRoom(signal: AbortSignal): Promise<void> {
    try {
      await this.room.checkAll();
      if (Date.now() - this.writtenAt < CHECKED_MS) return;
      await this.options.bucket.put(PROBE, Buffer.from('holdfast\n'), signal);
      this.writtenAt = Date.now();
    } catch (err) {
      throw beforeAnything(err);
    }
  }

  /** No call needs it any more. What cannot be removed now is removed by `prune`, a month later. */
  release({ object = '', bytes }: BlobRef): void {
    this.needed.delete(object);
    this.fetched.delete(object);
    this.remove(object);
    this.room.remove(agentOf(object), bytes);
  }

  /**
   * Another machine has all of it, and asks again for a result only if its delivery was interrupted. Arguments are asked
   * for at each attempt.
   */
  delivered({ object = '' }: Pick<BlobRef, 'object'>): void {
    if (!this.needed.has(object)) this.fetched.set(object, Date.now());
  }

  /** Removes what has been delivered, and what no call can request any more. */
  async prune(now: number): Promise<void> {
    for (const [object, at] of this.fetched) {
      if (now - at <= SPARE_MS) continue;
      this.fetched.delete(object);
      this.remove(object);
    }
    if (now - this.prunedAt < PRUNE_EVERY_MS) return;
    const { bucket } = this.options;
    const listed = await listWithTime(bucket);
    if (!listed) return;
    for (const { name, changedAt } of listed.objects)
      if (!isImageObject(name) && changedAt + KEPT_MS < listed.now) await bucket.remove(name);
    this.prunedAt = now;
  }

  private remove(object: string): void {
    const { bucket, warn } = this.options;
    bucket.remove(object).catch((err: unknown) => {
      warn('a large value could not be removed', { object, reason: String(err) });
    });
  }
}

/**
 * All objects, and the time by the clock of the bucket, which dates each upload: that of this machine may be a month
 * ahead. Undefined if another worker has just done the same.
 */
export async function listWithTime(
  bucket: Bucket,
): Promise<{ objects: BucketObject[]; now: number } | undefined> {
  await bucket.put(PROBE, Buffer.from('holdfast\n'), new AbortController().signal);
  const listed = await bucket.list();
  await bucket.remove(PROBE);
  const probe = listed.find(({ name }) => name === PROBE);
  return probe && { objects: listed.filter((one) => one !== probe), now: probe.changedAt };
}

/** `AGENT/images/HASH`: an image of a conversation, which is not a call's. */
export const isImageObject = (object: string): boolean => /^[^/]+\/images\//.test(object);

export const agentOf = (object: string): string => object.split('/')[0] ?? '';

/** Objects that others have put there count for no agent. */
export function asFile({ name, bytes, changedAt }: BucketObject): BlobFile[] {
  if (!/^[a-z0-9][a-z0-9_-]*\/[0-9a-f]{64}$/.test(name)) return [];
  const expiresAt = changedAt + KEPT_MS;
  return [{ path: name, agent: agentOf(name), bytes, expiresAt, isSpare: false, isDraft: false }];
}

const isBucketFailure = (err: unknown): err is HoldfastError =>
  err instanceof HoldfastError && err.code === 'bucket_failed';

const beforeAnything = (err: unknown): unknown =>
  isBucketFailure(err) ? err.withFacts({ done: 'nothing was run' }) : err;
