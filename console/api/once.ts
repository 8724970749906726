// Requests that count once, however often they are sent again after an answer that was lost.
import { useRef } from 'preact/hooks';
import { callApi, isRefused } from './call-api';

/** @param meant what the request is about, where its body does not say so: about another thing it is another request. */
type Once = <Answer>(path: string, body: object, meant?: unknown) => Promise<Answer>;

/** The same request has the same key until its answer is here. Throws `ApiProblem`. */
export function useOnce(): Once {
  const sent = useRef({ what: '', key: '' });
  return async (path, body, meant) => {
    const what = JSON.stringify([path, body, meant]);
    if (sent.current.what !== what) sent.current = { what, key: crypto.randomUUID() };
    try {
      const answer = await callApi<never>('POST', path, body, { key: sent.current.key });
      sent.current = { what: '', key: '' };
      return answer;
    } catch (err) {
      // The same answer for ever would be all that this key brings.
      if (isRefused(err)) sent.current = { what: '', key: '' };
      throw err;
    }
  };
}
