// A folder that is held open: what happens in it stays in it, whatever is renamed or linked meanwhile. Each name is
// one component, and no link is followed: paths go through the folder's descriptor (proc(5)).
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  type BigIntStats,
} from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Name } from './transfer-messages';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;
export const PERMISSIONS = 0o777;
/** Sticky, and for its owner only: for the owner nothing changes, and no other program gives a folder such a mode. */
const UNFINISHED = 0o1700;

/** How file systems say that they have no hard links, or not such a mode: exFAT and FAT, network and FUSE file systems. */
const NOT_SUPPORTED = new Set(['EPERM', 'ENOTSUP', 'ENOSYS']);

/** The running kernel, which numbers the file systems; empty if it is not known. */
const MACHINE = bootOf();

function bootOf(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return '';
  }
}

/** The bytes of a path or a name. */
export const bytesOf = (name: Name): Buffer => Buffer.from(name, 'latin1');
export const nameOf = (bytes: Buffer): Name => bytes.toString('latin1');

export class OpenFolder {
  private constructor(
    private readonly fd: number,
    /** Where it was when it was opened. */
    private readonly opened: Buffer,
  ) {}

  /** Follows links: it is the path that somebody has named. Throws file system errors. */
  static at(path: Name): OpenFolder {
    return new OpenFolder(openSync(bytesOf(path), O_RDONLY | O_DIRECTORY), bytesOf(path));
  }

  /** A folder in this one. Throws ENOTDIR for anything else, links included. */
  folder(name: Name): OpenFolder {
    const path = this.path(name);
    return new OpenFolder(openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path);
  }

  names(): Name[] {
    return readdirSync(this.own, { encoding: 'buffer' })
      .sort((a, b) => a.compare(b))
      .map(nameOf);
  }

  /** The facts of the entry itself; undefined if there is none. */
  look(name: Name): BigIntStats | undefined {
    return lstatSync(this.path(name), { bigint: true, throwIfNoEntry: false });
  }

  /** Opens without waiting, whatever it is. */
  read(name: Name): Promise<FileHandle> {
    return open(this.path(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  }

  /** Throws EEXIST. Only this user can read it. */
  create(name: Name): Promise<FileHandle> {
    return open(this.path(name), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  }

  reopen(name: Name): Promise<FileHandle> {
    return open(this.path(name), O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  }

  linkTarget(name: Name): Name {
    return nameOf(readlinkSync(this.path(name), { encoding: 'buffer' }));
  }

  makeLink(name: Name, target: Name): void {
    symlinkSync(bytesOf(target), this.path(name));
  }

  /** Throws EEXIST. Its owner can use it until `setMode`. */
  makeFolder(name: Name): void {
    mkdirSync(this.path(name), 0o700);
  }

  /** Sets the mode of the folder itself. */
  setMode(mode: number): void {
    fchmodSync(this.fd, mode & PERMISSIONS);
  }

  /** Until `setMode`, only its owner can use it, and `isUnfinished` distinguishes it from a folder that was there. */
  setUnfinished(): void {
    try {
      fchmodSync(this.fd, UNFINISHED);
    } catch (err) {
      if (!lacksIt(err)) throw err;
    }
  }

  /** Whether a transfer has made the folder, and has not left it yet. */
  get isUnfinished(): boolean {
    const { mode, uid } = fstatSync(this.fd);
    return (mode & 0o7777) === UNFINISHED && uid === process.geteuid?.();
  }

  /** Replaces what is there. */
  rename(from: Name, to: Name): void {
    renameSync(this.path(from), this.path(to));
  }

  /** Throws EEXIST if something is there. */
  place(from: Name, to: Name): void {
    try {
      linkSync(this.path(from), this.path(to));
    } catch (err) {
      if (!lacksIt(err)) throw err;
      return this.placeWithoutLink(from, to);
    }
    this.remove(from);
  }

  /** An empty file takes the name first: of several at once, only one can make it. */
  private placeWithoutLink(from: Name, to: Name): void {
    closeSync(openSync(this.path(to), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600));
    try {
      this.rename(from, to);
    } catch (err) {
      this.remove(to);
      throw err;
    }
  }

  remove(name: Name): void {
    try {
      unlinkSync(this.path(name));
    } catch {
      // It is gone, or was replaced by a folder.
    }
  }

  /** Which file system it is on. */
  get device(): number {
    return fstatSync(this.fd).dev;
  }

  /** The same in every process of this machine that opens this folder; undefined if that cannot be known. */
  get identity(): string | undefined {
    if (MACHINE === '') return undefined;
    const { dev, ino } = fstatSync(this.fd, { bigint: true });
    return createHash('sha256').update(`${MACHINE} ${dev} ${ino}`).digest('hex').slice(0, 32);
  }

  /** What was renamed here survives a power cut. */
  async sync(): Promise<void> {
    // A slow disk must not keep this process from its pulses.
    await promisify(fsync)(this.fd);
  }

  close(): void {
    closeSync(this.fd);
  }

  /** Without /proc it is the path again, and somebody who renames folders meanwhile could lead it elsewhere. */
  private get own(): Buffer {
    return process.platform === 'linux' ? Buffer.from(`/proc/self/fd/${this.fd}`) : this.opened;
  }

  private path(name: Name): Buffer {
    return Buffer.concat([this.own, Buffer.from('/'), bytesOf(name)]);
  }
}

const lacksIt = (err: unknown): boolean => NOT_SUPPORTED.has((err as NodeJS.ErrnoException).code ?? '');
