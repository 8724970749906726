// What the approver of a command or a call is shown: all of it, with long values cut one by one. Pure.
import type { ShownValue } from './approvals';
import { utf8Length } from '../schemas/session';
import { beginningOf, endOf } from '../text/well-formed';

/** Limits for one value, and for all values together. */
const VALUE_CHARACTERS = 16_000;
const ALL_CHARACTERS = 64_000;
const LEAST_CHARACTERS = 500;
/** Names that say what is affected; these come first. */
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

/**
 * Each value is cut separately, so that a long one does not hide the others.
 * @param limits characters of one value, and of all together; of each value a beginning is left in any case
 */
export function cutValues(
  values: readonly ShownValue[],
  { each = VALUE_CHARACTERS, together = ALL_CHARACTERS }: { each?: number; together?: number } = {},
): ShownValue[] {
  let left = Math.min(ALL_CHARACTERS, together);
  return values.map((value) => {
    const most = Math.max(LEAST_CHARACTERS, Math.min(each, left));
    const cut = cutValue(value, most);
    left -= cut.text.length;
    return cut;
  });
}

function cutValue(value: ShownValue, most: number): ShownValue {
  const { text } = value;
  if (text.length <= most) return value;
  const head = beginningOf(text, Math.ceil(most * 0.7));
  const tail = endOf(text, Math.floor(most * 0.3));
  const omitted = text.length - head.length - tail.length;
  return { ...value, text: `${head}\n… ${omitted} characters …\n${tail}`, omitted: value.omitted + omitted };
}

/** `code (12 bytes)`, `content (90000 bytes, 74000 characters left out)`. */
export const captionOf = ({ name, bytes, omitted }: ShownValue): string =>
  `${name} (${bytes} bytes${omitted > 0 ? `, ${omitted} characters left out` : ''})`;
