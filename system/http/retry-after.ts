// When another side may be asked again.

/** Milliseconds, from `retry-after-ms` or `retry-after` (seconds or a date, RFC 9110); undefined if absent. */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const ms = amount(headers.get('retry-after-ms'));
  if (ms !== undefined) return Math.ceil(ms);
  const after = headers.get('retry-after');
  const seconds = amount(after);
  if (seconds !== undefined) return Math.ceil(seconds * 1_000);
  // A date contains a time; Node would read a bare number as a year.
  const date = after?.includes(':') ? Date.parse(after) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const amount = (text: string | null): number | undefined =>
  text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
