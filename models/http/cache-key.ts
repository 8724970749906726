// The key by which OpenAI finds the server that has a conversation's beginning in its cache.
import { createHash } from 'node:crypto';
import type { ModelRequest } from '../provider';

/** The same for every call of a conversation, but reveals nothing about it. */
export function cacheKey({ system, messages }: ModelRequest): string {
  const first = messages[0]?.text ?? '';
  return createHash('sha256').update(`${system}\0${first}`).digest('hex').slice(0, 32);
}
