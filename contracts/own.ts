// Plain objects, as JSON produces them, used as tables with keys from outside. Pure.

/** The table's own value: `constructor` and `__proto__` are ordinary keys. */
export const ownValue = <T>(
  table: Readonly<Record<string, T>> | undefined,
  key: string | undefined,
): T | undefined => (table && key !== undefined && Object.hasOwn(table, key) ? table[key] : undefined);

/** Sets the table's own value: a plain assignment to `__proto__` would set its prototype. */
export function setOwn<T>(table: Record<string, T>, key: string, value: T): void {
  Object.defineProperty(table, key, { value, writable: true, enumerable: true, configurable: true });
}
