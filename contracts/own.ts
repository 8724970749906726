// Tables that are plain objects, as JSON makes them, by keys that come from outside. Pure.

/** The table's own value: `constructor` and `__proto__` are keys as any other. */
export const ownValue = <T>(
  table: Readonly<Record<string, T>> | undefined,
  key: string | undefined,
): T | undefined => (table && key !== undefined && Object.hasOwn(table, key) ? table[key] : undefined);

/** Makes a value the table's own: a mere assignment to `__proto__` would set its prototype. */
export function setOwn<T>(table: Record<string, T>, key: string, value: T): void {
  Object.defineProperty(table, key, { value, writable: true, enumerable: true, configurable: true });
}
