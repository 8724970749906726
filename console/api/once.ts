// Requests that count once, however often they are sent again after an answer that was lost.
import { useRef } from 'preact/hooks';
import { callApi, isRefused } from './call-api';

type Once = <Answer>(path: string, body: object) => Promise<Answer>;

/** The same request has the same key until its answer is here. Throws `ApiProblem`. */
export function useOnce(): Once {
  const sent = useRef({ what: '', key: '' });
  return async (path, body) => {
    const what = JSON.stringify([path, body]);
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
