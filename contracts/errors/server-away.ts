// Distinguishes a Temporal server that cannot be reached, or has no such namespace, from all other failures of a request.
import { NamespaceNotFoundError } from '@temporalio/common';
import { HoldfastError } from './holdfast-error';

/** gRPC's status codes DEADLINE_EXCEEDED and UNAVAILABLE. */
const AWAY: readonly unknown[] = [4, 14];
const NOT_FOUND = 5;
/** As the server words it. The SDK's own error is made only of requests about workflows. */
const NO_NAMESPACE = /^Namespace (\S+) is not found/;
const ADDRESS = /(?:[\w.-]+|\[[\da-f:]+\]):\d{2,5}\b/i;

/** Of a failed request to the Temporal server: why it was not reached; undefined if it was, or if this is no request. */
export function awayReason(err: unknown): string | undefined {
  const cause = (err instanceof Error && err.cause) || err;
  const { code, details } = (cause ?? {}) as { code?: unknown; details?: unknown };
  return AWAY.includes(code) && typeof details === 'string' ? details || 'no answer' : undefined;
}

/** The address that gRPC names in its reason, if it does. */
export const addressIn = (reason: string): string | undefined => ADDRESS.exec(reason)?.[0];

/** `no_server`, where the server was not reached; undefined for any other failure. */
export function serverAway(err: unknown, address?: string): HoldfastError | undefined {
  const reason = awayReason(err);
  if (reason === undefined) return undefined;
  return new HoldfastError('no_server', { address: address ?? addressIn(reason) ?? 'its address', reason });
}

/** What gRPC makes of an answer of plain HTTP. */
const PLAIN_HTTP = /^Received HTTP status code \d+/;

/** `no_server`, where a proxy or another program answers in its place; undefined for any other failure. */
export function foreignServer(err: unknown, address = 'its address'): HoldfastError | undefined {
  const { details, cause } = (err ?? {}) as { details?: unknown; cause?: unknown };
  const said = typeof details === 'string' ? PLAIN_HTTP.exec(details)?.[0] : undefined;
  if (said === undefined) return cause instanceof Error ? foreignServer(cause, address) : undefined;
  return new HoldfastError('no_server', { address, reason: `something else is there (${said})` });
}

/** `namespace_missing`, where the server says that it has no such namespace; undefined for any other failure. */
export function missingNamespace(err: unknown): HoldfastError | undefined {
  const got = namespaceIn(err);
  return got === undefined ? undefined : new HoldfastError('namespace_missing', { got });
}

function namespaceIn(err: unknown): string | undefined {
  if (err instanceof NamespaceNotFoundError) return err.namespace;
  const { code, details, cause } = (err ?? {}) as { code?: unknown; details?: unknown; cause?: unknown };
  if (code === NOT_FOUND && typeof details === 'string') return NO_NAMESPACE.exec(details)?.[1];
  return cause instanceof Error ? namespaceIn(cause) : undefined;
}
