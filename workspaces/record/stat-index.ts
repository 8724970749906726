// Reads and writes a git index (gitformat-index(5), version 2). git uses it to see which files changed since; only we
// write it, so that no killed git leaves a lock or half an index. It holds no extensions and no checksum, which git
// does not check.
import type { BigIntStats } from 'node:fs';
import { fromBytes, toBytes, type BytePath } from '../byte-path';

/** A file as the index has it. */
export interface IndexEntry {
  /** 0o100644, 0o100755 or 0o120000. */
  mode: number;
  oid: string;
  size: number;
  /** What git compares; undefined: git calls the file changed, so that it is looked at again. */
  stats: BigIntStats | undefined;
}

const HEADER_BYTES = 12;
const FIXED_BYTES = 62;
const TRAILER_BYTES = 20;
const AT = { cSec: 0, cNs: 4, mSec: 8, mNs: 12, dev: 16, ino: 20, mode: 24, uid: 28, gid: 32, size: 36 };
const OID = 40;
const FLAGS = 60;
const NAME_MASK = 0xfff;
const U32 = 0xffff_ffffn;
const NS_PER_SECOND = 1_000_000_000n;

const lengthOf = (name: number): number => (FIXED_BYTES + name + 8) & ~7;

export class DamagedIndex extends Error {}

export class StatIndex {
  private readonly offsets: number[] = [];

  /**
   * @param prefix what the paths of the workspace begin with in the index: '', or a folder with a slash
   * @param bytes of a file that `with` made, or of none
   */
  constructor(
    private readonly prefix: BytePath,
    private readonly bytes: Buffer = Buffer.alloc(0),
  ) {
    if (bytes.length === 0) return;
    const isOurs = bytes.toString('latin1', 0, 4) === 'DIRC' && bytes.readUInt32BE(4) === 2;
    if (!isOurs) throw new DamagedIndex();
    let at = HEADER_BYTES;
    for (let left = bytes.readUInt32BE(8); left > 0 && at + FIXED_BYTES < bytes.length; left--) {
      this.offsets.push(at);
      at += lengthOf(this.nameLengthAt(at));
    }
    if (this.offsets.length !== bytes.readUInt32BE(8) || at > bytes.length) throw new DamagedIndex();
  }

  get count(): number {
    return this.offsets.length;
  }

  find(path: BytePath): { mode: number; oid: string; size: number } | undefined {
    const found = this.search(toBytes(this.prefix + path));
    const at = found >= 0 ? (this.offsets[found] ?? 0) : undefined;
    if (at === undefined) return undefined;
    return {
      mode: this.bytes.readUInt32BE(at + AT.mode),
      oid: this.bytes.toString('hex', at + OID, at + OID + 20),
      size: this.bytes.readUInt32BE(at + AT.size),
    };
  }

  /** Whether any file lies below a folder. */
  hasBelow(folder: BytePath): boolean {
    const below = toBytes(`${this.prefix}${folder}/`);
    const found = this.search(below);
    const at = this.offsets[found >= 0 ? found : ~found];
    return at !== undefined && this.nameAt(at).subarray(0, below.length).equals(below);
  }

  *paths(): Generator<BytePath> {
    for (const at of this.offsets) yield fromBytes(this.nameAt(at).subarray(this.prefix.length));
  }

  /** The bytes of an index with other entries for these paths; null removes one. */
  with(changes: ReadonlyMap<BytePath, IndexEntry | null>): Buffer {
    const parts: Buffer[] = [];
    let count = 0;
    let from = 0;
    const copyTo = (to: number): void => {
      if (to > from) parts.push(this.bytes.subarray(this.startOf(from), this.startOf(to)));
      count += to - from;
      from = to;
    };
    // `sort` compares UTF-16 units, which for characters of one byte are the bytes.
    for (const path of [...changes.keys()].sort()) {
      const found = this.search(toBytes(this.prefix + path));
      copyTo(found >= 0 ? found : ~found);
      if (found >= 0) from = found + 1;
      const entry = changes.get(path);
      if (!entry) continue;
      parts.push(encoded(this.prefix + path, entry));
      count += 1;
    }
    copyTo(this.offsets.length);
    const header = Buffer.alloc(HEADER_BYTES);
    header.write('DIRC', 'latin1');
    header.writeUInt32BE(2, 4);
    header.writeUInt32BE(count, 8);
    return Buffer.concat([header, ...parts, Buffer.alloc(TRAILER_BYTES)]);
  }

  private startOf(entry: number): number {
    const at = this.offsets[entry];
    if (at !== undefined) return at;
    const last = this.offsets.at(-1);
    return last === undefined ? HEADER_BYTES : last + lengthOf(this.nameLengthAt(last));
  }

  private nameAt(at: number): Buffer {
    return this.bytes.subarray(at + FIXED_BYTES, at + FIXED_BYTES + this.nameLengthAt(at));
  }

  private nameLengthAt(at: number): number {
    const length = (((this.bytes[at + FLAGS] ?? 0) << 8) | (this.bytes[at + FLAGS + 1] ?? 0)) & NAME_MASK;
    return length < NAME_MASK ? length : this.bytes.indexOf(0, at + FIXED_BYTES) - at - FIXED_BYTES;
  }

  /** The number of the entry, or the complement of where it would be. */
  private search(name: Buffer): number {
    let low = 0;
    let high = this.offsets.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const order = this.nameAt(this.offsets[middle] ?? 0).compare(name);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return ~low;
  }
}

function encoded(path: BytePath, { mode, oid, size, stats }: IndexEntry): Buffer {
  const name = toBytes(path);
  const entry = Buffer.alloc(lengthOf(name.length));
  const put = (value: bigint, at: number): void => void entry.writeUInt32BE(Number(value & U32), at);
  if (stats) {
    put(stats.ctimeNs / NS_PER_SECOND, AT.cSec);
    put(stats.ctimeNs % NS_PER_SECOND, AT.cNs);
    put(stats.mtimeNs / NS_PER_SECOND, AT.mSec);
    put(stats.mtimeNs % NS_PER_SECOND, AT.mNs);
    for (const key of ['dev', 'ino', 'uid', 'gid'] as const) put(stats[key], AT[key]);
  }
  entry.writeUInt32BE(mode, AT.mode);
  put(BigInt(size), AT.size);
  entry.write(oid, OID, 'hex');
  entry.writeUInt16BE(Math.min(name.length, NAME_MASK), FLAGS);
  name.copy(entry, FIXED_BYTES);
  return entry;
}
