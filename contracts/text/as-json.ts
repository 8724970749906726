// Any value as JSON, for the texts of errors. Pure.

/**
 * The value as JSON, and `nothing` for one that JSON leaves out. Never throws: of what JSON cannot hold it shows as much
 * as it can, since the error that shows it must not hide behind another one.
 */
export function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'nothing';
  } catch {
    return shownInPart(value);
  }
}

/** Whether JSON can hold the value. */
export function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

function shownInPart(value: unknown): string {
  const above: unknown[] = [];
  try {
    const text = JSON.stringify(value, function (this: unknown, _key, part: unknown) {
      if (typeof part === 'bigint') return `${String(part)}n`;
      if (typeof part !== 'object' || part === null) return part;
      // `this` holds the part: what is above it ends there.
      above.splice(above.indexOf(this) + 1);
      if (above.includes(part)) return '[itself]';
      above.push(part);
      return part;
    });
    return text ?? 'nothing';
  } catch {
    // Its `toJSON`, or a getter, throws.
    return `a value of the type ${typeof value} that cannot be shown`;
  }
}
