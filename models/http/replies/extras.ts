// What a server sends with a reply beside its text and calls, such as a model's reasoning and its signature. Some servers
// refuse a conversation in which that is missing. Pure.
import { isObject } from '../../dialects/json-text';
import { fieldsOf, type Fields } from './untrusted';

/** A limit: it is recorded with the reply. A server then gets the reply without it. */
const MAX_CHARACTERS = 150_000;
const MAX_DEPTH = 20;

/** Those that hold something, without the ones that the protocol reads. */
export function otherFields(fields: Fields, read: readonly string[]): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => !read.includes(name) && !isEmpty(value)),
  );
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** The extras of a reply; nothing if there are none, or they cannot be recorded. */
export function extrasOf(extras: Fields): { extras?: Fields } {
  const given = otherFields(extras, []);
  if (Object.keys(given).length === 0 || isTooDeep(given)) return {};
  return JSON.stringify(given).length > MAX_CHARACTERS ? {} : { extras: given };
}

const isTooDeep = (value: unknown, depth = 0): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (depth >= MAX_DEPTH || Object.values(value).some((each) => isTooDeep(each, depth + 1)));

/** Names that each piece repeats, and does not continue. */
const REPEATED = ['id', 'type', 'format', 'index', 'role', 'name'];

/** A field that comes in pieces: texts and lists grow, items of a list with the same index are one. */
export function joinedPieces(before: unknown, piece: unknown): unknown {
  if (piece === undefined || piece === null) return before;
  if (typeof before === 'string' && typeof piece === 'string') return before + piece;
  if (Array.isArray(before) && Array.isArray(piece))
    return piece.reduce(withItem, [...(before as unknown[])]);
  if (isObject(before) && isObject(piece)) return joinedFields(before, piece);
  return piece;
}

export function joinedFields(before: Fields, piece: Fields): Fields {
  const all: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(piece)) {
    const isWhole = REPEATED.includes(name) || !Object.hasOwn(all, name);
    Object.defineProperty(all, name, {
      value: isWhole ? (value ?? all[name]) : joinedPieces(all[name], value),
      ...{ enumerable: true, configurable: true, writable: true },
    });
  }
  return all;
}

function withItem(items: unknown[], item: unknown): unknown[] {
  const { index, type } = fieldsOf(item);
  const at =
    typeof index === 'number'
      ? items.findLastIndex((each) => fieldsOf(each).index === index && fieldsOf(each).type === type)
      : -1;
  return at < 0 ? [...items, item] : items.with(at, joinedPieces(items[at], item));
}
