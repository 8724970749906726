// Text without half a surrogate pair: a model server refuses a conversation that holds one, and Python cannot print it. All
// cuts of text by length are made here. Pure.

/** The first characters, or one less where the cut would split a pair. */
export const beginningOf = (text: string, characters: number): string =>
  isInPair(text, characters) ? text.slice(0, characters - 1) : text.slice(0, Math.max(0, characters));

/** The last characters, or one less where the cut would split a pair. */
export function endOf(text: string, characters: number): string {
  const from = Math.max(0, text.length - Math.max(0, characters));
  return text.slice(isInPair(text, from) ? from + 1 : from);
}

/** The text, or its beginning with a mark that there is more. */
export const shortened = (text: string, characters: number): string =>
  text.length <= characters ? text : `${beginningOf(text, characters)}…`;

const isInPair = (text: string, at: number): boolean =>
  at > 0 && isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** JSON whose texts are all well-formed, keys included: U+FFFD stands for each half. The same value if they are already. */
export function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => wellFormed(item));
    return items.some((item, at) => item !== value[at]) ? (items as T) : value;
  }
  const entries = Object.entries(value).map(
    ([key, item]) => [wellFormed(key), wellFormed<unknown>(item)] as const,
  );
  const isSame = Object.entries(value).every(([key, item], at) => {
    const [other, changed] = entries[at] ?? [];
    return other === key && Object.is(changed, item);
  });
  return isSame ? value : (Object.fromEntries(entries) as T);
}
