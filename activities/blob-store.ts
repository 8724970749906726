// Where values lie that are too large for history: a folder of files, named by the hash of their content. What lies on
// another machine is fetched from there when it is read.
import { createHash, randomUUID } from 'node:crypto';
import {
  access,
  constants,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { HoldfastError, reasonOf } from '../contracts/errors';
import type { BlobRef, JsonValue, ToolOutcome } from '../contracts/tools';
import { MAX_VALUE_BYTES } from '../exec/protocol';
import { storageReason } from '../exec/storage-failure';

/** A value above this goes by file: the server warns at 512 KiB, and every replay reads history again. */
const INLINE_BYTES = 65_536;
/** As base64 and encrypted it stays below what a payload may be, 2 MiB. */
const PART_BYTES = 1_000_000;
/** A call goes on for 31 days at the most; after that nobody asks for what it was given or gave. */
const KEPT_MS = 32 * 24 * 3_600_000;

/** This machine, for others: where they find what lies here, and how it gets what lies elsewhere. */
export interface BlobPlace {
  /** Task queue. */
  at: string;
  fetch: (ref: BlobRef & { at: string }, signal: AbortSignal) => Promise<Buffer>;
}

export class BlobStore {
  constructor(
    private readonly folder: string,
    private readonly place: BlobPlace,
  ) {}

  /** The value for history: itself, or where it lies. Throws `storage_failed`, and `result_too_large` for what no connection carries. */
  async fit(tool: string, value: JsonValue | undefined): Promise<ToolOutcome> {
    const content = Buffer.from(JSON.stringify(value ?? null), 'utf8');
    if (content.length <= INLINE_BYTES) return { ok: true, value: value ?? null };
    if (content.length > MAX_VALUE_BYTES)
      throw new HoldfastError('result_too_large', { tool, got: content.length, allowed: MAX_VALUE_BYTES });
    return { ok: true, blob: await this.keep(content) };
  }

  /** Arguments for history: themselves, or where they lie. Throws `storage_failed` where the disk takes nothing. */
  async fitArgs(args: Record<string, unknown>): Promise<{ args: Record<string, unknown>; blob?: BlobRef }> {
    const content = Buffer.from(JSON.stringify(args), 'utf8');
    if (content.length <= INLINE_BYTES) return { args };
    return { args: {}, blob: await this.keep(content) };
  }

  /** Throws `storage_failed` where a large value could not be kept now. */
  async checkRoom(): Promise<void> {
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      await access(this.folder, constants.W_OK);
      const { bavail, bsize } = await statfs(this.folder);
      if (bavail * bsize < MAX_VALUE_BYTES) throw new Error(`${bavail * bsize} bytes are free`);
    } catch (err) {
      throw new HoldfastError('storage_failed', { reason: storageReason(err), done: 'nothing was run' });
    }
  }

  /** Throws why it cannot be had: it is not there any more, is not what it was, or its machine does not answer. */
  async read(ref: BlobRef, signal: AbortSignal): Promise<JsonValue> {
    const content = (await this.readHere(ref)) ?? (await this.fetch(ref, signal));
    return JSON.parse(content.toString('utf8')) as JsonValue;
  }

  /** Bytes from an offset, empty behind the end. Throws `not_found`. */
  async part(sha256: string, from: number): Promise<Buffer> {
    const file = await open(this.path(sha256)).catch(() => {
      throw new HoldfastError('not_found', { what: 'The value', got: sha256, next: 'Make it anew.' });
    });
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(PART_BYTES), 0, PART_BYTES, from);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /** Removes what no call can ask for any more. */
  async prune(now = Date.now()): Promise<void> {
    for (const name of await readdir(this.folder).catch(() => [])) {
      const path = join(this.folder, name);
      const found = await stat(path).catch(() => undefined);
      if (found && now - found.mtimeMs > KEPT_MS) await rm(path, { force: true });
    }
  }

  private async readHere(ref: BlobRef): Promise<Buffer | undefined> {
    const content = await readFile(this.path(ref.sha256)).catch(() => undefined);
    return content && isOf(content, ref) ? content : undefined;
  }

  private async fetch(ref: BlobRef, signal: AbortSignal): Promise<Buffer> {
    const { at } = ref;
    if (at === undefined || at === this.place.at) throw new Error('it is not there any more, or has changed');
    const content = await this.place.fetch({ ...ref, at }, signal);
    if (!isOf(content, ref)) throw new Error('what came is not what was sent');
    // For the next attempt; where it cannot be kept, it is fetched again.
    await this.write(content, ref).catch(() => undefined);
    return content;
  }

  private async keep(content: Buffer): Promise<BlobRef> {
    const ref = { sha256: hash(content), bytes: content.length, at: this.place.at };
    try {
      await this.write(content, ref);
      return ref;
    } catch (err) {
      throw new HoldfastError('storage_failed', { reason: reasonOf(err) });
    }
  }

  private async write(content: Buffer, { sha256, bytes }: BlobRef): Promise<void> {
    const path = this.path(sha256);
    const there = await stat(path).catch(() => undefined);
    const now = new Date();
    if (there?.size === bytes) {
      // Whoever clears the folder by age must not take what is used again.
      await utimes(path, now, now).catch(() => undefined);
      return;
    }
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const draft = `${path}.${randomUUID()}`;
    await writeFile(draft, content, { mode: 0o600 });
    await rename(draft, path);
  }

  private path(sha256: string): string {
    if (!/^[0-9a-f]{64}$/.test(sha256))
      throw new HoldfastError('invalid_input', {
        what: 'The hash of a blob',
        got: sha256,
        allowed: '64 digits',
      });
    return join(this.folder, sha256);
  }
}

/** Of errors of the catalogue the code alone: what their messages say of an effect is not about the tool. */
export const whyUnreachable = (err: unknown): string =>
  err instanceof HoldfastError ? err.code : reasonOf(err);

const hash = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

const isOf = (content: Buffer, { sha256, bytes }: BlobRef): boolean =>
  content.length === bytes && hash(content) === sha256;
