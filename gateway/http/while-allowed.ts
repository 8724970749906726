// How long an answer may go on that lasts longer than a request.
import { watchCaller } from '../access/who';
import type { Asked } from './route';

/** Aborts when the client is gone, its token no longer holds, or the gateway ends. */
export function whileAllowed({
  caller,
  context,
  connection: { headers },
  signal,
}: Asked<string, unknown, unknown>): AbortSignal {
  const refused = new AbortController();
  const stop = watchCaller(caller, { headers, registers: context, refused: (err) => refused.abort(err) });
  const over = AbortSignal.any([signal, refused.signal, context.over]);
  if (over.aborted) stop();
  over.addEventListener('abort', stop, { once: true });
  return over;
}
