// Reads a file for sending: its bytes and their sum, and whether it stayed the same meanwhile.
import { createHash, type Hash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

const PIECE_BYTES = 256 * 1024;
/** Of the first and the last bytes, that name a content together with its size and its time. */
const SAMPLE_BYTES = 64 * 1024;
const ID_CHARS = 20;

export const statsOf = (file: FileHandle): Promise<BigIntStats> => file.stat({ bigint: true });

export const isSame = (a: BigIntStats, b: BigIntStats): boolean =>
  a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs && a.ino === b.ino;

/** False for files that the kernel makes when they are read: those of /proc say 0 bytes, those of /sys a page. */
export async function endsWhereItSays(file: FileHandle, { size }: BigIntStats): Promise<boolean> {
  const last = Math.max(0, Number(size) - 1);
  const found = await file.read(Buffer.alloc(1), 0, 1, last).catch(() => undefined);
  return found?.bytesRead === (size === 0n ? 0 : 1);
}

/** Changes whenever the file does. */
export const versionOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  createHash('sha256').update([dev, ino, size, mtimeNs, ctimeNs].join(' ')).digest('hex').slice(0, 32);

/** A name for the content that costs no reading of all of it: the sum at the end says whether it was right. */
export async function contentId(file: FileHandle, { size, mtimeNs }: BigIntStats): Promise<string> {
  const hash = createHash('sha256').update(`${size} ${mtimeNs} `);
  const sample = Buffer.alloc(SAMPLE_BYTES);
  for (const at of [0, Math.max(0, Number(size) - SAMPLE_BYTES)]) {
    const { bytesRead } = await file.read(sample, 0, SAMPLE_BYTES, at);
    hash.update(sample.subarray(0, bytesRead));
  }
  return hash.digest('hex').slice(0, ID_CHARS);
}

/** The sum of the bytes from `from` to `to`; goes on in `hash` if there is one. */
export async function hashOf(file: FileHandle, from: number, to: number): Promise<Hash> {
  const hash = createHash('sha256');
  for await (const piece of piecesOf(file, from, to)) hash.update(piece);
  return hash;
}

/**
 * The bytes from `from` to `to`, or fewer if the file is shorter by now. A piece is valid until the next one but one is
 * asked for: the next is read while this one is sent.
 */
export async function* piecesOf(file: FileHandle, from: number, to: number): AsyncGenerator<Buffer> {
  const size = Math.max(1, Math.min(PIECE_BYTES, to - from));
  const buffers = [Buffer.allocUnsafe(size), Buffer.allocUnsafe(size)] as const;
  const read = (at: number, turn: 0 | 1): Promise<Buffer> =>
    file
      .read(buffers[turn], 0, Math.min(size, to - at), at)
      .then(({ bytesRead, buffer }) => buffer.subarray(0, bytesRead));
  let turn: 0 | 1 = 0;
  let next = from < to ? read(from, turn) : undefined;
  for (let at = from; next !== undefined;) {
    const piece: Buffer = await next;
    if (piece.length === 0) return;
    at += piece.length;
    turn = turn === 0 ? 1 : 0;
    next = at < to ? read(at, turn) : undefined;
    // Awaited with the next piece, if anybody asks for it.
    next?.catch(() => undefined);
    yield piece;
  }
}
