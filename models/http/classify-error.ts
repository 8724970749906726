// What a failed call means: a code of the catalogue, whichever SDK threw. Derived from the status, the error's own type
// and network error codes, without the SDKs' classes.
import { types } from 'node:util';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { ownValue } from '../../contracts/own';
import { jsonOf } from '../dialects/json-text';
import { redact } from './redact';
import { retryAfterMs } from '../../system/http/retry-after';

/** The stream ended before the reply did. */
export class CutStream extends Error {
  override name = 'CutStream';
  constructor() {
    super('the stream ended before the answer did');
  }
}

/** An answer that does not match the provider's API. */
export class UnexpectedAnswer extends Error {
  override name = 'UnexpectedAnswer';
}

/** An error that the provider reported in its answer, or in the middle of it. */
export class ReportedError extends Error {
  override name = 'ReportedError';
  constructor(readonly error: Readonly<Record<string, unknown>>) {
    super(jsonOf(error));
  }
}

export interface FailedCall {
  /** `provider:name`. */
  model: string;
  address: string;
  secrets: readonly string[];
  /** Which of our own limits ended the call. */
  limit: string | undefined;
}

/** What the errors of both SDKs have in common. */
interface StatusError {
  status?: number;
  headers?: Headers;
  /** The body, or the value of its field `error`. */
  error?: unknown;
}

export function classifyError(err: unknown, { model, address, secrets, limit }: FailedCall): HoldfastError {
  const said = (text: string): string => redact(text, secrets);
  const where = { model, address: said(address) };
  if (limit !== undefined) return new HoldfastError('model_unreachable', { ...where, reason: limit });
  const { status: answered, headers, error } = err as StatusError;
  if (typeof answered === 'number' || isReport(error)) {
    const marks = marksOf(error);
    const status = answered ?? marks.status;
    const text = marks.message || reasonOf(err);
    const code = codeOf(status, marks, text);
    const isLimited = status === 429 || marks.kinds.includes('rate_limit_exceeded');
    const isRate = code === 'model_context_length' && isLimited;
    const after = headers instanceof Headers ? retryAfterMs(headers, Date.now()) : undefined;
    const got = status === undefined ? said(marks.kinds.join(' ') || 'an error') : `status ${status}`;
    return new HoldfastError(code, {
      model,
      got,
      reason: sentence(said(text)),
      ...(isRate && { isRate }),
      ...(after !== undefined && { retryAfterMs: after }),
    });
  }
  if (isOfNetwork(err))
    return new HoldfastError('model_unreachable', { ...where, reason: sentence(said(rootReason(err))) });
  const reason = isSyntaxError(err)
    ? `the answer is not valid JSON (${rootReason(err)}); look at base_url and wire_api`
    : rootReason(err);
  return new HoldfastError('model_failed', { reason: sentence(said(`${model}: ${reason}`)) });
}

/** What the SDKs throw for an error in the middle of a stream has no status, but what the server reported. */
const isReport = (error: unknown): boolean =>
  typeof error === 'string' || (typeof error === 'object' && error !== null);

interface Marks {
  /** The provider's own words for the kind of error. */
  kinds: string[];
  message: string;
  /** Some servers report a failure of another status with status 200. */
  status?: number | undefined;
}

function marksOf(body: unknown): Marks {
  if (typeof body === 'string') return { kinds: [], message: body };
  if (typeof body !== 'object' || body === null) return { kinds: [], message: '' };
  const outer = body as Record<string, unknown>;
  const inner = typeof outer.error === 'object' && outer.error ? (outer.error as typeof outer) : outer;
  const kinds = [inner.code, inner.type].filter((kind): kind is string => typeof kind === 'string');
  const status = [inner.code, inner.status].map(Number).find((named) => named >= 400 && named < 600);
  return { kinds, message: typeof inner.message === 'string' ? inner.message : '', status };
}

const TOO_LONG = new RegExp(
  [
    'context[ _](length|window|limit|size)',
    'maximum (context|prompt length)',
    '(prompt|input|request) is too (long|large)',
    'too many (input )?tokens',
    'token limit',
    'token count .*exceeds',
  ].join('|'),
  'i',
);
/**
 * One request with more tokens than its limit for a minute, reported as a rate limit by OpenAI (429) and Groq (413): no
 * pause helps.
 */
const LARGER_THAN_RATE = /^request too large\b/i;

/** Anthropic reports it as a request that is invalid. */
const NO_CREDIT = /credit balance is too low/i;

/** What an answer with a status, or an error inside a stream, can mean. */
type AnswerCode =
  'model_context_length' | 'model_auth' | 'model_rate_limit' | 'model_bad_request' | 'model_overloaded';

/** By the provider's own error kinds: those that say more than a status, or have none. */
const BY_KIND: Readonly<Record<string, AnswerCode>> = {
  context_length_exceeded: 'model_context_length',
  exceed_context_size_error: 'model_context_length',
  request_too_large: 'model_context_length',
  insufficient_quota: 'model_auth',
  billing_error: 'model_auth',
  invalid_api_key: 'model_auth',
  authentication_error: 'model_auth',
  permission_error: 'model_auth',
  rate_limit_exceeded: 'model_rate_limit',
  rate_limit_error: 'model_rate_limit',
  invalid_prompt: 'model_bad_request',
  not_found_error: 'model_bad_request',
  timeout_error: 'model_overloaded',
  overloaded_error: 'model_overloaded',
};

const BY_STATUS: Readonly<Record<number, AnswerCode>> = {
  401: 'model_auth',
  402: 'model_auth',
  403: 'model_auth',
  408: 'model_overloaded',
  409: 'model_overloaded',
  413: 'model_context_length',
  425: 'model_overloaded',
  429: 'model_rate_limit',
};

function codeOf(status: number | undefined, { kinds }: Marks, text: string): AnswerCode {
  if (LARGER_THAN_RATE.test(text)) return 'model_context_length';
  const given = kinds.map((kind) => ownValue(BY_KIND, kind)).find((code) => code !== undefined);
  if (given) return given;
  const isRefused =
    status !== undefined ? status >= 400 && status < 500 : kinds.includes('invalid_request_error');
  if (isRefused && NO_CREDIT.test(text)) return 'model_auth';
  if (isRefused && status !== 429 && TOO_LONG.test(text)) return 'model_context_length';
  const byStatus = status === undefined ? undefined : BY_STATUS[status];
  if (byStatus) return byStatus;
  return isRefused ? 'model_bad_request' : 'model_overloaded';
}

/** The server does not take a request as it stands, but not for its length: the model has not begun. */
export function refusesRequest(err: unknown): err is Error {
  if (!types.isNativeError(err)) return false;
  const { status, error } = err as StatusError;
  const marks = marksOf(error);
  // An error that is reported in an answer has no status of its own.
  if (status !== 400 && status !== 422) return false;
  return codeOf(status, marks, marks.message || reasonOf(err)) === 'model_bad_request';
}

const NETWORK_CODE = /^(E[A-Z]+|UND_ERR_\w+|CERT_\w+|ERR_TLS_\w+|ERR_SSL_\w+|[A-Z_]*CERT[A-Z_]*)$/;
/** How the SDKs and Node report that the other side was gone. */
const GONE =
  /^(TypeError: )?(terminated|fetch failed|connection error|premature close)|timed out|(stream|request) (has )?ended|ended without|missing finish_reason/i;

/** The connection broke, or there was none. */
export function isOfNetwork(err: unknown): boolean {
  return chain(err).some(
    (cause) =>
      cause instanceof CutStream ||
      NETWORK_CODE.test((cause as NodeJS.ErrnoException).code ?? '') ||
      (!isOfContent(cause) && GONE.test(cause.message)),
  );
}

/** An error whose message may quote what the provider sent. */
const isOfContent = (err: Error): boolean => err instanceof UnexpectedAnswer || isSyntaxError(err);

/** What the SDKs throw for an event that is not JSON. */
export const isSyntaxError = (err: unknown): boolean =>
  types.isNativeError(err) && err.name === 'SyntaxError';

/** The deepest cause says what happened; the outer ones only say that something did. */
function rootReason(err: unknown): string {
  const root = chain(err).at(-1);
  if (!root) return reasonOf(err);
  const { code } = root as NodeJS.ErrnoException;
  return root.message || (typeof code === 'string' ? code : root.name);
}

function chain(err: unknown): Error[] {
  const found: Error[] = [];
  for (let at = err; types.isNativeError(at) && found.length < 10; at = at.cause) found.push(at);
  return found;
}

const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
