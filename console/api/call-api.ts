// Requests to the API, and its problems (RFC 9457) as errors.
import { signal } from '@preact/signals';

/** False after an answer 401: the page asks for a log-in. */
export const isSignedIn = signal<boolean | null>(null);

export interface ProblemText {
  code: string;
  detail: string;
  next: string;
  /** What the error names. */
  facts?: Record<string, string | number>;
}

export class ApiProblem extends Error {
  constructor(
    readonly status: number,
    readonly problem: ProblemText,
  ) {
    super(problem.detail);
  }
}

type Method = 'GET' | 'POST';

/** Throws `ApiProblem`; its status is 0 if there was no answer. */
export async function callApi<Answer>(
  method: Method,
  path: string,
  body?: object,
  options: { key?: string; signal?: AbortSignal } = {},
): Promise<Answer> {
  const lost = whenLost(method === 'GET' ? UNREAD : OFFLINE, options.signal);
  const answer = await fetch(path, {
    method,
    ...(options.signal && { signal: options.signal }),
    headers: {
      ...(body && { 'Content-Type': 'application/json' }),
      ...(options.key && { 'Idempotency-Key': options.key }),
    },
    ...(body && { body: JSON.stringify(body) }),
  }).catch(lost);
  if (!answer.ok) throw await problemOfAnswer(answer, path);
  const text = await answer.text().catch(lost);
  return (text === '' ? undefined : JSON.parse(text)) as Answer;
}

/** For what fails while an answer is awaited or read. */
export const whenLost =
  (problem: ProblemText, signal?: AbortSignal) =>
  (err: unknown): never => {
    if (signal?.aborted) throw err;
    throw new ApiProblem(0, problem);
  };

/** The problem in an answer other than 2xx. 401 makes the page ask for a log-in. */
export async function problemOfAnswer(answer: Response, path: string): Promise<ApiProblem> {
  if (answer.status === 401 && path !== '/v1/login') isSignedIn.value = false;
  return new ApiProblem(answer.status, problemIn(await answer.text().catch(() => ''), answer.status));
}

const UNREAD: ProblemText = {
  code: 'offline',
  detail: 'The gateway does not answer.',
  next: 'The page reads this again when it does.',
};

const OFFLINE: ProblemText = {
  code: 'offline',
  detail: 'The gateway does not answer. It is unknown whether it received the request.',
  next: 'Look whether it took effect before you repeat it.',
};

function problemIn(text: string, status: number): ProblemText {
  try {
    const { code, detail, next, facts } = JSON.parse(text) as Partial<ProblemText>;
    if (detail) return { code: code ?? 'unknown', detail, next: next ?? '', ...(facts && { facts }) };
  } catch {
    // A proxy in between answers with a page of its own.
  }
  return { code: 'unknown', detail: `The gateway answered with status ${status}.`, next: 'Try again later.' };
}

export const problemOf = (err: unknown): ProblemText =>
  err instanceof ApiProblem
    ? err.problem
    : { code: 'page', detail: err instanceof Error ? err.message : String(err), next: 'Reload the page.' };

/** Whether it is known that the request had no effect: otherwise it is sent again with the same key. */
export const isRefused = (err: unknown): boolean =>
  err instanceof ApiProblem && err.status >= 400 && err.status < 500;

/** Whether asking again brings nothing else: there is no such thing, or it is not this person's to see. */
export const isOutOfReach = (err: unknown): boolean =>
  err instanceof ApiProblem && [400, 403, 404].includes(err.status);

export const pathOf = (...parts: (string | number)[]): string =>
  `/v1/${parts.map((part) => encodeURIComponent(part)).join('/')}`;

/** A page of a list; `next` is the cursor of the one after it, null at the end. */
export interface Listed<Item> {
  items: Item[];
  next: string | null;
}
