// Where values lie that are too large for history: a folder of files, named by the hash of their content.
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HoldfastError } from '../contracts/errors';
import type { BlobRef, JsonValue, ToolOutcome } from '../contracts/tools';
import { MAX_VALUE_BYTES } from '../exec/protocol';
import { storageReason } from '../exec/storage-failure';

/** A value above this goes by file: the server warns at 512 KiB, and every replay reads history again. */
const INLINE_BYTES = 65_536;
/** A call goes on for 31 days at the most; after that nobody asks for what it was given or gave. */
const KEPT_MS = 32 * 24 * 3_600_000;

export class BlobStore {
  constructor(private readonly folder: string) {}

  /** The value for history: itself, or where it lies. One that no connection carries is an error of its call. */
  async fit(tool: string, value: JsonValue | undefined): Promise<ToolOutcome> {
    const content = Buffer.from(JSON.stringify(value ?? null), 'utf8');
    if (content.length <= INLINE_BYTES) return { ok: true, value: value ?? null };
    if (content.length > MAX_VALUE_BYTES) {
      return new HoldfastError('result_too_large', {
        tool,
        got: content.length,
        allowed: MAX_VALUE_BYTES,
      }).toOutcome();
    }
    return { ok: true, blob: await this.write(content) };
  }

  /** Arguments for history: themselves, or where they lie. Throws `storage_failed` where the disk takes nothing. */
  async fitArgs(args: Record<string, unknown>): Promise<{ args: Record<string, unknown>; blob?: BlobRef }> {
    const content = Buffer.from(JSON.stringify(args), 'utf8');
    if (content.length <= INLINE_BYTES) return { args };
    try {
      return { args: {}, blob: await this.write(content) };
    } catch (err) {
      throw new HoldfastError('storage_failed', { reason: storageReason(err) });
    }
  }

  /** Throws `storage_failed` for one that is not there, or is not what it was. */
  async read({ sha256, bytes }: BlobRef): Promise<JsonValue> {
    try {
      const content = await readFile(this.path(sha256));
      if (content.length !== bytes || hash(content) !== sha256) throw new Error(`blob ${sha256} has changed`);
      return JSON.parse(content.toString('utf8')) as JsonValue;
    } catch (err) {
      throw new HoldfastError('storage_failed', { reason: storageReason(err) });
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

  private async write(content: Buffer): Promise<BlobRef> {
    const ref = { sha256: hash(content), bytes: content.length };
    const path = this.path(ref.sha256);
    const there = await stat(path).catch(() => undefined);
    const now = new Date();
    if (there?.size === ref.bytes) {
      // Whoever clears the folder by age must not take what is used again.
      await utimes(path, now, now).catch(() => undefined);
      return ref;
    }
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const draft = `${path}.${randomUUID()}`;
    await writeFile(draft, content, { mode: 0o600 });
    await rename(draft, path);
    return ref;
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

const hash = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
