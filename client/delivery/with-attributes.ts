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
  const cause = err instanceof Error && err.cause ? err.cause : err;
  return isGrpcServiceError(cause) && Number(cause.code) === INVALID_ARGUMENT && NAMES_IT.test(cause.details);
}
