// Large values in the data folder, in files named by the hash of their content. A value on another machine is fetched
// from there when it is read. A value is kept while a call needs it, and then removed.
import { createHash, randomUUID } from 'node:crypto';
import {
  access,
  constants,
  mkdir,
  open,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { dirname } from 'node:path';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { DEFAULT_QUOTAS } from '../../contracts/sessions/quotas';
import type { BlobRef } from '../../contracts/tools/tools';
import { MAX_VALUE_BYTES } from '../../exec/protocol';
import { storageReason } from '../../system/storage-failure';
import { BlobFolder } from './blob-folder';
import { BlobRoom, type BlobLimits } from './blob-room';

/** In base64 and encrypted, it stays below the payload limit of 2 MiB. */
const PART_BYTES = 1_000_000;

/** This machine as others see it: where they fetch values stored here, and how it fetches values stored elsewhere. */
export interface BlobPlace {
  /** Task queue. */
  at: string;
  fetch: (ref: BlobRef & { at: string }, signal: AbortSignal) => Promise<Buffer>;
}

export class BlobStore {
  private readonly files: BlobFolder;
  private readonly room: BlobRoom;
  /** How many calls served by this process need a file: as arguments, as result. */
  private readonly needed = { arguments: new Map<string, number>(), result: new Map<string, number>() };

  constructor(
    private readonly folder: string,
    private readonly place: BlobPlace,
    limits: BlobLimits = DEFAULT_QUOTAS,
  ) {
    this.files = new BlobFolder(folder);
    this.room = new BlobRoom(this.files, limits);
  }

  /** Throws `values_full` if the agent's calls have used up their share. */
  checkQuota(agent: string): Promise<void> {
    return this.room.checkAgent(agent);
  }

  /** Throws `storage_failed` and `values_full` if a large value could not be stored now. */
  async checkRoom(): Promise<void> {
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      await access(this.folder, constants.W_OK);
      const { bavail, bsize } = await statfs(this.folder);
      if (bavail * bsize < MAX_VALUE_BYTES) throw new Error(`${bavail * bsize} bytes are free`);
    } catch (err) {
      throw new HoldfastError('storage_failed', { reason: storageReason(err), done: 'nothing was run' });
    }
    await this.room.checkAll();
  }

  /** Throws the reason if it is unavailable: it is gone or has changed, or its machine does not answer. */
  async read(agent: string, ref: BlobRef, signal: AbortSignal): Promise<Buffer> {
    return (await this.readHere(agent, ref)) ?? (await this.fetch(ref, signal));
  }

  /** Whether it was fetched before, so that `part` has it. */
  async hasCopy(sha256: string): Promise<boolean> {
    return (await stat(this.files.copy(sha256)).catch(() => undefined))?.isFile() === true;
  }

  /** Keeps a value of another place for an hour. Throws `values_full`. */
  keepCopy(content: Buffer): Promise<void> {
    return this.write(null, content, 'copy');
  }

  /** Bytes from an offset, empty beyond the end, and whether they end at the value's end. Throws `not_found`. */
  async part(sha256: string, from: number): Promise<{ part: Buffer; isLast: boolean }> {
    const paths = await this.files.allOf(sha256);
    const found = paths[0] ?? (await this.files.imagesOf(sha256))[0] ?? this.files.copy(sha256);
    const file = await open(found).catch(() => {
      throw new HoldfastError('not_found', { what: 'The value', got: sha256, next: 'Create it again.' });
    });
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(PART_BYTES), 0, PART_BYTES, from);
      const { size } = await file.stat();
      const isLast = from + bytesRead === size;
      if (isLast) this.delivered(paths);
      return { part: buffer.subarray(0, bytesRead), isLast };
    } finally {
      await file.close();
    }
  }

  /** The call is over. */
  releaseArgs(agent: string, ref: BlobRef): void {
    this.release(agent, ref, 'arguments');
  }

  /** The script has received it. */
  releaseResult(agent: string, ref: BlobRef): void {
    this.release(agent, ref, 'result');
  }

  /** A fetched copy has been read; a value stored here is not affected. */
  releaseCopy({ sha256, bytes }: BlobRef): void {
    if (this.files.remove(this.files.copy(sha256))) this.room.remove(null, bytes);
  }

  /** Removes values that no call can request any more. */
  prune(now = Date.now()): Promise<void> {
    return this.files.prune(now);
  }

  private async readHere(agent: string, ref: BlobRef): Promise<Buffer | undefined> {
    for (const path of this.files.placesOf(agent, ref.sha256)) {
      const content = await readFile(path).catch(() => undefined);
      if (content && isOf(content, ref)) return content;
    }
    return undefined;
  }

  private async fetch(ref: BlobRef, signal: AbortSignal): Promise<Buffer> {
    const { at, object } = ref;
    if (at === undefined || at === this.place.at)
      throw new Error(
        object === undefined
          ? 'it no longer exists, or has changed'
          : 'it is in a bucket, and [storage] of this worker names none',
      );
    const content = await this.place.fetch({ ...ref, at }, signal);
    if (!isOf(content, ref)) throw new Error('the received value differs from the one that was sent');
    // For the next attempt; if it cannot be stored, it is fetched again.
    await this.write(null, content, 'copy').catch(() => undefined);
    return content;
  }

  /** Valid until its release. Throws `storage_failed` and `values_full`. */
  async keep(agent: string, content: Buffer, kind: Kind): Promise<BlobRef> {
    const ref = { sha256: hashOf(content), bytes: content.length, at: this.place.at };
    const path = this.files.own(agent, ref.sha256);
    const needed = this.needed[kind];
    // Before the file is looked up: from here on it is not removed.
    needed.set(path, (needed.get(path) ?? 0) + 1);
    try {
      await this.write(agent, content, kind);
      return ref;
    } catch (err) {
      this.isLast(path, kind);
      if (err instanceof HoldfastError) throw err;
      throw new HoldfastError('storage_failed', { reason: reasonOf(err) });
    }
  }

  private async write(agent: string | null, content: Buffer, kind: Kind | 'copy'): Promise<void> {
    const sha256 = hashOf(content);
    const path = agent === null ? this.files.copy(sha256) : this.files.own(agent, sha256);
    // A file that is used again was counted when it was created.
    if (this.files.use(path, content.length)) return;
    const room = await this.room.take(agent, content.length, kind);
    try {
      await writeWhole(path, content);
      room.fill();
    } catch (err) {
      room.giveBack();
      throw err;
    }
  }

  private release(agent: string, ref: BlobRef, kind: Kind): void {
    const path = this.files.own(agent, ref.sha256);
    const isOurs = this.needed[kind].has(path);
    if (!this.isLast(path, kind)) return;
    this.releaseCopy(ref);
    if (this.needed.arguments.has(path) || this.needed.result.has(path)) return;
    if (isOurs) {
      if (this.files.remove(path)) this.room.remove(agent, ref.bytes);
      return;
    }
    // Created before this process started, or by another one: others may still need it.
    this.files.markSpare(path);
    this.room.markSpare(agent, ref.bytes);
  }

  /** Another machine has all of it: a result is not requested again, unless the transfer was interrupted. */
  private delivered(paths: readonly string[]): void {
    const [path] = paths;
    // If several agents have the same value, it is unknown whose was fetched.
    if (path === undefined || paths.length > 1 || this.needed.arguments.has(path)) return;
    if (this.isLast(path, 'result')) this.files.markSpare(path);
  }

  /** Whether no other call needs the file for this purpose. */
  private isLast(path: string, kind: Kind): boolean {
    const needed = this.needed[kind];
    const others = (needed.get(path) ?? 1) - 1;
    if (others > 0) needed.set(path, others);
    else needed.delete(path);
    return others === 0;
  }
}

/** What a call needs it for. */
type Kind = 'arguments' | 'result';

/** Appears whole: beside its place first. */
export async function writeWhole(path: string, content: Buffer): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    // An empty folder may be removed meanwhile.
    await writeInto(draft, content).catch(() => writeInto(draft, content));
    await rename(draft, path);
  } catch (err) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw err;
  }
}

async function writeInto(path: string, content: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, content, { mode: 0o600 });
}

/** Of catalogue errors not the message: what it says about an effect does not refer to the tool. */
export function whyUnreachable(err: unknown): string {
  if (!(err instanceof HoldfastError)) return reasonOf(err);
  return err.code === 'bucket_failed' ? `${err.code}: ${String(err.facts.reason)}` : err.code;
}

export const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** Whether it is what the reference says. */
export const isOf = (content: Buffer, { sha256, bytes }: Pick<BlobRef, 'sha256' | 'bytes'>): boolean =>
  content.length === bytes && hashOf(content) === sha256;
