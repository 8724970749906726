// Values that are too large for history: small ones stay as they are, large ones are replaced by a reference. Decides
// where a value is stored: in the team's bucket if one is configured, else in the data folder of this machine.
import type { BlobRef, JsonValue, ToolOutcome } from '../../contracts/tools/tools';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { MAX_VALUE_BYTES } from '../../exec/protocol';
import type { BlobStore } from './blob-store';
import { isImageObject, type BucketStore, type ValueOwner } from './bucket-store';

/** Larger values are stored: the server warns at 512 KiB, and every replay reads the history again. */
const INLINE_BYTES = 65_536;

/** Never aborted: for callers that do not wait. */
const NEVER: AbortSignal = new AbortController().signal;

export class LargeValues {
  constructor(
    private readonly folder: BlobStore,
    private readonly bucket: BucketStore | null = null,
  ) {}

  /**
   * The value for history: itself, or a reference that is valid until `releaseResult`. Throws `storage_failed`,
   * `bucket_failed`, `values_full`, and `result_too_large` for a value that no connection can carry.
   */
  async fit(
    owner: ValueOwner,
    tool: string,
    value: JsonValue | undefined,
    signal: AbortSignal = NEVER,
  ): Promise<ToolOutcome> {
    const content = Buffer.from(JSON.stringify(value ?? null), 'utf8');
    if (content.length <= INLINE_BYTES) return { ok: true, value: value ?? null };
    if (content.length > MAX_VALUE_BYTES)
      throw new HoldfastError('result_too_large', { tool, got: content.length, allowed: MAX_VALUE_BYTES });
    return { ok: true, blob: await this.keep(owner, content, 'result', signal) };
  }

  /**
   * Arguments for history: themselves, or a reference that is valid until `releaseArgs`. Throws `storage_failed`,
   * `bucket_failed` and `values_full`.
   */
  async fitArgs(
    owner: ValueOwner,
    args: Record<string, unknown>,
    signal: AbortSignal = NEVER,
  ): Promise<{ args: Record<string, unknown>; blob?: BlobRef }> {
    const content = Buffer.from(JSON.stringify(args), 'utf8');
    if (content.length <= INLINE_BYTES) return { args };
    return { args: {}, blob: await this.keep(owner, content, 'arguments', signal) };
  }

  /** Throws `values_full` if the agent's calls have used up their share. */
  checkQuota(agent: string): Promise<void> {
    return (this.bucket ?? this.folder).checkQuota(agent);
  }

  /** Throws `storage_failed`, `bucket_failed` and `values_full` if a large value could not be stored now. */
  checkRoom(signal: AbortSignal = NEVER): Promise<void> {
    return this.bucket ? this.bucket.checkRoom(signal) : this.folder.checkRoom();
  }

  /** Throws the reason if it is unavailable: it is gone or has changed, or its machine or bucket does not answer. */
  async read(agent: string, ref: BlobRef, signal: AbortSignal): Promise<JsonValue> {
    const bucket = this.bucketOf(ref);
    const content = await (bucket ? bucket.read(ref, signal, agent) : this.folder.read(agent, ref, signal));
    return JSON.parse(content.toString('utf8')) as JsonValue;
  }

  /** Bytes from an offset, for a machine that cannot read them itself; empty beyond the end. Throws `not_found`. */
  async part(
    ref: Pick<BlobRef, 'sha256' | 'object'>,
    from: number,
    signal: AbortSignal = NEVER,
  ): Promise<Buffer> {
    const bucket = this.bucketOf(ref);
    // A part of an encrypted object cannot be read alone.
    if (bucket && !(await this.folder.hasCopy(ref.sha256)))
      await this.folder.keepCopy(await bucket.read(ref, signal));
    const { part, isLast } = await this.folder.part(ref.sha256, from);
    if (isLast && !isImageObject(ref.object ?? '')) bucket?.delivered(ref);
    return part;
  }

  /** The call is over. */
  releaseArgs(agent: string, ref: BlobRef): void {
    if (ref.object === undefined) this.folder.releaseArgs(agent, ref);
    else this.bucket?.release(ref);
  }

  /** The script has received it. */
  releaseResult(agent: string, ref: BlobRef): void {
    if (ref.object === undefined) this.folder.releaseResult(agent, ref);
    else this.bucket?.release(ref);
  }

  /** A fetched copy has been read; a value stored here is not affected. */
  releaseCopy(ref: BlobRef): void {
    this.folder.releaseCopy(ref);
  }

  /** Removes values that no call can request any more. */
  async prune(now = Date.now()): Promise<void> {
    await this.folder.prune(now);
    await this.bucket?.prune(now);
  }

  private keep(
    owner: ValueOwner,
    content: Buffer,
    kind: 'arguments' | 'result',
    signal: AbortSignal,
  ): Promise<BlobRef> {
    return this.bucket
      ? this.bucket.keep(owner, content, kind, signal)
      : this.folder.keep(owner.agent, content, kind);
  }

  /** Undefined for a value in a folder, and on a machine without a bucket, which asks one that has it. */
  private bucketOf({ object }: Pick<BlobRef, 'object'>): BucketStore | undefined {
    return object === undefined ? undefined : (this.bucket ?? undefined);
  }
}
