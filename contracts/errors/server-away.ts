// Tells a Temporal server that cannot be reached from all other failures of a request.

/** gRPC's status codes DEADLINE_EXCEEDED and UNAVAILABLE. */
const AWAY: readonly unknown[] = [4, 14];
const ADDRESS = /(?:[\w.-]+|\[[\da-f:]+\]):\d{2,5}\b/i;

/** Of a failed request to the Temporal server: why it was not reached; undefined if it was, or if this is no request. */
export function awayReason(err: unknown): string | undefined {
  const cause = (err instanceof Error && err.cause) || err;
  const { code, details } = (cause ?? {}) as { code?: unknown; details?: unknown };
  return AWAY.includes(code) && typeof details === 'string' ? details || 'no answer' : undefined;
}

/** The address that gRPC names in its reason, if it does. */
export const addressIn = (reason: string): string | undefined => ADDRESS.exec(reason)?.[0];
