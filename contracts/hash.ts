// A hash for values that only need to differ: workflows have no node:crypto, and nothing here is secret. Pure.

/** FNV-1a of 32 bits. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}
