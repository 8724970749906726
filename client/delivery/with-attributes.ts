// Starts a workflow with search attributes, which cost nothing when they are given with the start.
import { isGrpcServiceError } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';

export interface StartAttributes {
  typedSearchAttributes?: SearchAttributePair[];
}

/** gRPC: INVALID_ARGUMENT. */
const INVALID_ARGUMENT = 3;
/** An update with start says only that it failed. It is then sent twice, which the ids of updates allow. */
const NAMES_IT = /search ?attribute|Update-with-Start could not be executed/i;

/** A server that lacks one of the attributes refuses the start: then without them, and the workflow sets what it may. */
export async function withAttributes<T>(
  typedSearchAttributes: SearchAttributePair[],
  start: (attributes: StartAttributes) => Promise<T>,
): Promise<T> {
  try {
    return await start({ typedSearchAttributes });
  } catch (err) {
    if (!lacksAttribute(err)) throw err;
    return start({});
  }
}

export function lacksAttribute(err: unknown): boolean {
  const cause = invalidArgument(err);
  return cause !== undefined && NAMES_IT.test(cause.details);
}

/** The server's own words for a request that it does not understand; undefined for any other error. */
export function invalidArgument(err: unknown): { details: string } | undefined {
  const cause = err instanceof Error && err.cause ? err.cause : err;
  return isGrpcServiceError(cause) && Number(cause.code) === INVALID_ARGUMENT ? cause : undefined;
}
