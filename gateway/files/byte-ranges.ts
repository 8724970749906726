// Ranges of bytes in HTTP (RFC 9110, 14). One range; of several all is sent, as the standard allows.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { Range } from '../../exec/transfer/transfer-messages';

/** Undefined for all of it. */
export function rangeOf(range: string | undefined, ifRange: string | undefined): Range | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range?.trim() ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  const ifVersion = ifRange === undefined ? {} : { ifVersion: /^"([0-9a-f]+)"$/.exec(ifRange)?.[1] ?? '' };
  // The last 0 bytes are none of any file: not even an empty one has such a range.
  if (from === '' && Number(to) === 0) return { from: 0, to: 0, ...ifVersion };
  if (from === '') return { from: -Number(to), to: null, ...ifVersion };
  return { from: Number(from), to: to === '' ? null : Number(to) + 1, ...ifVersion };
}

/** What part of an upload a body is. */
export interface Part {
  offset: number;
  /** The size of the whole; null if it is not known. */
  size: number | null;
}

/** Throws `invalid_input` for a header that does not end with the whole's last byte, or does not fit the body's length. */
export function partOf(contentRange: string | undefined, contentLength: string | undefined): Part {
  const length = contentLength === undefined ? null : Number(contentLength);
  if (contentRange === undefined) return { offset: 0, size: length };
  const [, from, to, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(contentRange.trim()) ?? [];
  const part = { offset: Number(from), size: Number(size) };
  const isWhole = Number(to) + 1 === part.size && part.offset <= Number(to);
  if (isWhole && (length === null || length === part.size - part.offset)) return part;
  throw new HoldfastError('invalid_input', {
    what: 'The header Content-Range',
    got: contentRange,
    allowed: 'bytes FROM-LAST/SIZE up to the last byte, as long as the body',
  });
}
