// Errors of the catalogue as problems (RFC 9457).
import type { HoldfastError, ErrorCode } from '../../contracts/errors/holdfast-error';
import { knownError } from '../../system/known-error';

export const PROBLEM_TYPE = 'application/problem+json';

/** By exit code, which says what kind of error it is (sysexits). */
const BY_KIND: Record<number, number> = {
  64: 400,
  65: 422,
  66: 404,
  69: 503,
  70: 500,
  71: 503,
  74: 503,
  75: 503,
  77: 403,
  78: 500,
};

const BY_CODE: Partial<Record<ErrorCode, number>> = {
  access_needed: 401,
  too_many_requests: 429,
  unknown_tool: 404,
  id_conflict: 409,
  busy: 409,
  typist_busy: 409,
  no_running_process: 409,
  prompt_over: 409,
  approval_changed: 409,
  agent_ended: 409,
  turn_left_over: 409,
  agent_closed: 409,
  session_closed: 409,
  session_lost: 409,
  not_begun: 409,
  model_unknown: 422,
  model_script_invalid: 422,
  offset_out_of_range: 416,
  input_too_long: 413,
  arguments_too_large: 413,
  deadline: 504,
  file_failed: 409,
  file_exists: 412,
  file_changed: 409,
  upload_offset: 409,
  checksum_mismatch: 422,
  range_unsatisfiable: 416,
};

export interface Problem extends Omit<ReturnType<HoldfastError['toJSON']>, 'message' | 'docs'> {
  /** Its place in the documentation. */
  type: string;
  title: string;
  status: number;
  detail: string;
}

const statusOf = ({ code, exitCode }: HoldfastError): number => BY_CODE[code] ?? BY_KIND[exitCode] ?? 500;

export function problemOf(err: unknown): Problem {
  const known = knownError(err);
  const { code, detail, next, retryable, effect, facts, docs } = known;
  const title = code.replaceAll('_', ' ');
  return { type: docs, title, status: statusOf(known), detail, code, next, retryable, effect, facts };
}
