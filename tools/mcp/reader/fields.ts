// Values as servers send them: null for what is absent, PHP's empty list for an empty object, and its object with numbers
// as keys for a list.

export type Fields = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Without the keys whose value is null. An empty list is an empty object; of anything else undefined. */
export function fieldsOf(value: unknown): Fields | undefined {
  if (isEmptyList(value)) return {};
  if (!isObject(value)) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null && each !== undefined));
}

/** A list, also as an object with its places as keys; what is absent is an empty one; of anything else undefined. */
export function listOf(value: unknown): readonly unknown[] | undefined {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value as unknown[];
  return isObject(value) && Object.keys(value).every((key) => /^\d+$/.test(key))
    ? Object.values(value)
    : undefined;
}

/** A text; numbers and the like as one; undefined for what is absent. */
export function textOf(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  return typeof value === 'string' ? value : jsonText(value);
}

/** JSON, also of a value that is nested deeper than a stack is. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '(a value that is nested too deeply to be shown)';
  }
}
