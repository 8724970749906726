// What is shown to whoever is asked about a command or a call: all of it, long values cut one by one. Pure.
import type { ShownValue } from './approvals';
import { utf8Length } from './schemas/session';

/** Of one value, and of all of them together. */
const VALUE_CHARACTERS = 16_000;
const ALL_CHARACTERS = 64_000;
const LEAST_CHARACTERS = 500;
/** Names that say what is touched: these come first. */
const PLACE = /path|file|folder|dir|cwd|host|url/i;

export function argumentsOf(args: unknown, secret = false): ShownValue[] {
  if (typeof args !== 'object' || args === null) return [wholeValue('arguments', args, secret)];
  const entries = Object.entries(args);
  const isPlace = ([name]: [string, unknown]): boolean => PLACE.test(name);
  const ordered = [...entries.filter(isPlace), ...entries.filter((entry) => !isPlace(entry))];
  return ordered.map(([name, value]) => wholeValue(name, value, secret));
}

/** @param secret it may be a password: only its size is shown */
export function wholeValue(name: string, value: unknown, secret = false): ShownValue {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  const bytes = utf8Length(text);
  return secret
    ? { name, text: '(not shown)', bytes, omitted: text.length }
    : { name, text, bytes, omitted: 0 };
}

/** Each of them cut on its own, so that a long one hides no other. */
export function cutValues(values: readonly ShownValue[], mostCharacters = VALUE_CHARACTERS): ShownValue[] {
  let left = ALL_CHARACTERS;
  return values.map((value) => {
    const most = Math.max(LEAST_CHARACTERS, Math.min(mostCharacters, left));
    const cut = cutValue(value, most);
    left -= cut.text.length;
    return cut;
  });
}

function cutValue(value: ShownValue, most: number): ShownValue {
  const { text } = value;
  if (text.length <= most) return value;
  const head = text.slice(0, Math.ceil(most * 0.7)).replace(/[\uD800-\uDBFF]$/, '');
  const tail = text.slice(text.length - Math.floor(most * 0.3)).replace(/^[\uDC00-\uDFFF]/, '');
  const omitted = text.length - head.length - tail.length;
  return { ...value, text: `${head}\n… ${omitted} characters …\n${tail}`, omitted: value.omitted + omitted };
}

/** `code (12 bytes)`, `content (90000 bytes, 74000 characters left out)`. */
export const captionOf = ({ name, bytes, omitted }: ShownValue): string =>
  `${name} (${bytes} bytes${omitted > 0 ? `, ${omitted} characters left out` : ''})`;
