// Removes keys from providers' messages: some repeat the key they were given, or its beginning and end.
import { beginningOf, shortened } from '../../contracts/text/well-formed';

const HIDDEN = '[hidden]';
/** Pieces of a secret at least this long are removed; shorter ones are ordinary text. */
export const PIECE = 6;
const WORD = /[^\s"'`]+/g;
const MAX_CHARACTERS = 1_000;
/** An error page may be megabytes long. Masked keys shrink what is read, so more than is shown is read. */
const MAX_READ = 20 * MAX_CHARACTERS;

export function redact(text: string, secrets: readonly string[]): string {
  let shown = beginningOf(text, MAX_READ).replace(WORD, unmasked);
  for (const secret of secrets.filter(Boolean)) shown = without(shown, secret);
  return shortened(shown, MAX_CHARACTERS);
}

/** Hides a provider's own masking, such as `sk-ab***yz`: the text around the stars belongs to a key. */
function unmasked(word: string): string {
  const stars = word.lastIndexOf('**');
  if (stars < 0) return word;
  const end = word.slice(stars).search(/[,;]/);
  return end < 0 ? HIDDEN : HIDDEN + word.slice(stars + end);
}

/** Removes every run of characters that is a piece of the secret. */
function without(text: string, secret: string): string {
  const size = Math.min(PIECE, secret.length);
  const pieces = new Set<string>();
  for (let at = 0; at + size <= secret.length; at++) pieces.add(secret.slice(at, at + size));
  let shown = '';
  let hiddenTo = 0;
  for (let at = 0; at < text.length; at++) {
    if (pieces.has(text.slice(at, at + size))) {
      if (at >= hiddenTo) shown += HIDDEN;
      hiddenTo = at + size;
    }
    if (at >= hiddenTo) shown += text[at];
  }
  return shown;
}
