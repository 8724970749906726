// The status that a server has answered a request with, over gRPC.
import { isGrpcServiceError } from '@temporalio/client';

/** Of a failed request, or of what it has caused; undefined for any other error. */
export function grpcCode(err: unknown): number | undefined {
  const cause = err instanceof Error && err.cause ? err.cause : err;
  return isGrpcServiceError(cause) ? Number(cause.code) : undefined;
}

/** The time-skipping test server cannot list, for example. */
export const UNIMPLEMENTED = 12;
export const NOT_FOUND = 5;
/** From a server with an authorizer: these credentials may not do that. */
export const PERMISSION_DENIED = 7;
