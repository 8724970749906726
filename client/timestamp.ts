// The Temporal server's times.
export interface Timestamp {
  seconds?: unknown;
  nanos?: number | null;
}

/** Milliseconds since 1970, rounded; null if the server names none. */
export const millisecondsOf = (time: Timestamp | null | undefined): number | null =>
  time?.seconds == null ? null : Number(time.seconds) * 1_000 + Math.round((time.nanos ?? 0) / 1e6);
