// Which message ids were used, and for what content: the same again is a repetition, other content is refused.
// Part of records that are carried over continue-as-new as JSON. Pure.
import { contentHash, type MessageContent } from '../../contracts/message-content';

/** Records of 0.2.0 hold only the id, without the content's hash. `isOpen`: what came of it is not known yet. */
export type KnownId = string | { id: string; hash: string; isOpen?: true };

const idOf = (known: KnownId): string => (typeof known === 'string' ? known : known.id);

export const findId = (known: readonly KnownId[] = [], id: string): KnownId | undefined =>
  known.find((one) => idOf(one) === id);

/** Whether the id was already used with other content. */
export function isOther(known: readonly KnownId[] | undefined, id: string, content: MessageContent): boolean {
  const found = findId(known, id);
  return found !== undefined && typeof found !== 'string' && found.hash !== contentHash(id, content);
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
  known.map((one) =>
    typeof one === 'string' || one.id !== id ? one : { id, hash: one.hash, ...(isOpen && { isOpen }) },
  );

export const withoutId = (known: readonly KnownId[], id: string): KnownId[] =>
  known.filter((one) => idOf(one) !== id);
