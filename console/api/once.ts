// Requests that count once, however often they are sent again after an answer that was lost.
import { callApi, isRefused } from './call-api';

/** The last request to each path whose answer is not here: it outlives the part of the page that sent it. */
const unanswered = new Map<string, { what: string; key: string }>();

/**
 * The same request has the same key until its answer is here. Throws `ApiProblem`.
 * @param meant what the request is about, where its body does not say so: about another thing it is another request
 */
export async function once<Answer>(path: string, body: object, meant?: unknown): Promise<Answer> {
  const what = JSON.stringify([body, meant]);
  const before = unanswered.get(path);
  const key = before?.what === what ? before.key : crypto.randomUUID();
  unanswered.set(path, { what, key });
  const settle = (): void => {
    if (unanswered.get(path)?.key === key) unanswered.delete(path);
  };
  try {
    const answer = await callApi<Answer>('POST', path, body, { key });
    settle();
    return answer;
  } catch (err) {
    // The same answer for ever would be all that this key brings.
    if (isRefused(err)) settle();
    throw err;
  }
}
