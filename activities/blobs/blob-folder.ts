// The files of the blob store: one folder per agent for values created here, and one for copies from other machines.
// Knows where they are, how many there are, and which of them can no longer be requested.
import { rmSync, statSync, utimesSync, type Stats } from 'node:fs';
import { lstat, mkdir, readdir, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { checkedId } from '../../contracts/ids';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { MARKS } from './image-owners';

/** Not a possible agent name. */
const COPIES = '.copies';
/** Below the folder of an agent; no hash. */
const IMAGES = 'images';
const SHA256 = /^[0-9a-f]{64}$/;
const HOUR_MS = 3_600_000;
/** A call lasts 31 days at most; after that its arguments and result are not requested any more. */
export const KEPT_MS = 32 * 24 * HOUR_MS;
/** A delivered value may be requested once more if its delivery was cut off; a copy can be fetched again. */
export const SPARE_MS = HOUR_MS;

export interface BlobFile {
  path: string;
  /** Null for copies. */
  agent: string | null;
  bytes: number;
  /** After this many milliseconds it cannot be requested. */
  expiresAt: number;
  /** Not known to be needed, so it may be removed earlier. */
  isSpare: boolean;
  /** It is being written, or a write was interrupted. */
  isDraft: boolean;
}

export class BlobFolder {
  constructor(private readonly folder: string) {}

  own(agent: string, sha256: string): string {
    return join(this.folder, checkedId('agent', agent), checkedHash(sha256));
  }

  copy(sha256: string): string {
    return join(this.folder, COPIES, checkedHash(sha256));
  }

  /** An image of the agent's conversation. */
  image(agent: string, sha256: string): string {
    return join(this.folder, checkedId('agent', agent), IMAGES, checkedHash(sha256));
  }

  /** All places where it may be for this agent. */
  placesOf(agent: string, sha256: string): string[] {
    return [this.own(agent, sha256), this.copy(sha256)];
  }

  /** The agents' own files with this content: a reference does not say whose call it is from. */
  async allOf(sha256: string): Promise<string[]> {
    const name = checkedHash(sha256);
    const paths = (await namesIn(this.folder)).map((entry) => join(this.folder, entry, name));
    const found = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
    return paths.filter((_, index) => found[index]?.isFile());
  }

  /** The images with this content, of any agent. */
  async imagesOf(sha256: string): Promise<string[]> {
    const name = checkedHash(sha256);
    const paths = (await namesIn(this.folder)).map((agent) => join(this.folder, agent, IMAGES, name));
    const found = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
    return paths.filter((_, index) => found[index]?.isFile());
  }

  /** The images of all agents: they have their own rule for how long they stay. */
  async listImages(now = Date.now()): Promise<BlobFile[]> {
    const files: BlobFile[] = [];
    for (const agent of await namesIn(this.folder))
      for (const name of await namesIn(join(this.folder, agent, IMAGES))) {
        const path = join(this.folder, agent, IMAGES, name);
        const found = await lstat(path).catch(() => undefined);
        if (found?.isFile()) files.push(describe(path, { ...sizeOf(found), within: agent }, now));
      }
    return files;
  }

  async list(now = Date.now()): Promise<BlobFile[]> {
    const files: BlobFile[] = [];
    for (const within of await namesIn(this.folder))
      for (const name of await namesIn(join(this.folder, within))) {
        const path = join(this.folder, within, name);
        // It may have been removed meanwhile.
        const found = await lstat(path).catch(() => undefined);
        if (found?.isFile()) files.push(describe(path, { ...sizeOf(found), within }, now));
      }
    return files;
  }

  // Decisions about a file and their effects are synchronous: others may begin to need it at any moment.

  /** Whether it exists; if so, it is in use from now on. */
  use(path: string, bytes: number): boolean {
    if (statSync(path, { throwIfNoEntry: false })?.size !== bytes) return false;
    this.setAge(path, 0);
    return true;
  }

  /** It has been delivered: it may be removed first, and will be in an hour. */
  markSpare(path: string): void {
    this.setAge(path, KEPT_MS - SPARE_MS);
  }

  /** Whether it existed. */
  remove(path: string): boolean {
    if (!statSync(path, { throwIfNoEntry: false })) return false;
    rmSync(path, { force: true });
    return true;
  }

  /** False if it is needed again by now. */
  removeSpare(path: string): boolean {
    return this.describe(path)?.isSpare === true && this.remove(path);
  }

  /** Removes the folder of an agent's images if it has none. */
  async tidyImages(agent: string): Promise<void> {
    const folder = join(this.folder, agent, IMAGES);
    if ((await namesIn(folder)).some((name) => name !== MARKS)) return;
    await rm(join(folder, MARKS), { recursive: true, force: true });
    await rmdir(folder).catch(() => undefined);
  }

  /** Which servers the agent's images are of. */
  imageMarks(agent: string): Promise<string[]> {
    return namesIn(join(this.folder, checkedId('agent', agent), IMAGES, MARKS));
  }

  async markImages(agent: string, mark: string): Promise<void> {
    const folder = join(this.folder, checkedId('agent', agent), IMAGES, MARKS);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, mark), '', { mode: 0o600 });
  }

  /** Removes values that no call can request any more, and leftovers of interrupted writes. */
  async prune(now = Date.now()): Promise<void> {
    for (const { path } of await this.list(now))
      if ((this.describe(path, now)?.expiresAt ?? Infinity) < now) this.remove(path);
    // Removes only empty folders.
    for (const entry of await namesIn(this.folder))
      await rmdir(join(this.folder, entry)).catch(() => undefined);
  }

  private setAge(path: string, ms: number): void {
    const at = new Date(Date.now() - ms);
    try {
      utimesSync(path, at, at);
    } catch {
      // It is gone, or its folder is read-only.
    }
  }

  private describe(path: string, now = Date.now()): BlobFile | undefined {
    const found = statSync(path, { throwIfNoEntry: false });
    const within = basename(dirname(path));
    return found?.isFile() ? describe(path, { ...sizeOf(found), within }, now) : undefined;
  }
}

interface Found {
  /** Name of its folder: an agent, or copies. */
  within: string;
  size: number;
  mtimeMs: number;
}

const sizeOf = ({ size, mtimeMs }: Stats): Pick<Found, 'size' | 'mtimeMs'> => ({ size, mtimeMs });

function describe(path: string, { within, size: bytes, mtimeMs }: Found, now: number): BlobFile {
  const isDraft = !SHA256.test(basename(path));
  const isCopy = within === COPIES;
  const expiresAt = mtimeMs + (isDraft || isCopy ? SPARE_MS : KEPT_MS);
  // A draft is being written.
  const isSpare = isCopy || expiresAt - now <= (isDraft ? 0 : SPARE_MS);
  return { path, agent: isCopy ? null : within, bytes, expiresAt, isSpare, isDraft };
}

function checkedHash(sha256: string): string {
  if (SHA256.test(sha256)) return sha256;
  throw new HoldfastError('invalid_input', { what: 'The hash of a blob', got: sha256, allowed: '64 digits' });
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
