// Which message ids were used, and for what content: the same again is a repetition, other content is refused.
// Part of records that are carried over continue-as-new as JSON. Pure.
import { contentHash, type MessageContent } from '../../contracts/message-content';

export interface KnownId {
  id: string;
  /** The hash of the content. */
  hash: string;
  /** What came of it is not known yet. */
  isOpen?: true;
}

export const findId = (known: readonly KnownId[] = [], id: string): KnownId | undefined =>
  known.find((one) => one.id === id);

/** Whether the id was already used with other content. */
export function isOther(known: readonly KnownId[] | undefined, id: string, content: MessageContent): boolean {
  const found = findId(known, id);
  return found !== undefined && found.hash !== contentHash(id, content);
}

/** True the first time; a known id is a repetition. Forgets the oldest above `limit`. */
export function rememberId(known: KnownId[], id: string, content: MessageContent, limit: number): boolean {
  if (findId(known, id) !== undefined) return false;
  known.push({ id, hash: contentHash(id, content) });
  if (known.length > limit) known.shift();
  return true;
}

/** With or without the mark that what came of this id is not known yet. */
export const withOpen = (known: readonly KnownId[], id: string, isOpen: boolean): KnownId[] =>
  known.map((one) => (one.id === id ? { id, hash: one.hash, ...(isOpen && { isOpen }) } : one));

export const withoutId = (known: readonly KnownId[], id: string): KnownId[] =>
  known.filter((one) => one.id !== id);
