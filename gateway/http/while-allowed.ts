// How long an answer or an upload may go on that lasts longer than a request: its token is looked at until it has ended.
import { watchCaller } from '../access/who';
import type { Asked } from './route';

type AnyAsked = Asked<string, unknown, unknown>;

/** Runs `work` with a signal that aborts, with the error, when the caller's token no longer holds. */
export async function whileAllowed<T>(
  asked: AnyAsked,
  work: (refused: AbortSignal) => Promise<T>,
): Promise<T> {
  const { refused, stop } = watch(asked);
  try {
    return await work(refused);
  } finally {
    stop();
  }
}

/** The same for a stream, whose signal also aborts when the client is gone or the gateway ends. */
export async function streamWhileAllowed(
  asked: AnyAsked,
  answer: (over: AbortSignal) => Promise<Response> | Response,
): Promise<Response> {
  const { refused, stop } = watch(asked);
  const over = AbortSignal.any([asked.signal, refused, asked.context.over]);
  const finish = (): void => {
    over.removeEventListener('abort', finish);
    stop();
  };
  over.addEventListener('abort', finish);
  if (over.aborted) finish();
  try {
    const { body, status, headers } = await answer(over);
    if (!body) finish();
    return new Response(body && untilEnd(body, finish), { status, headers });
  } catch (err) {
    finish();
    throw err;
  }
}

function watch({ caller, context, connection: { headers } }: AnyAsked): {
  refused: AbortSignal;
  stop: () => void;
} {
  const refused = new AbortController();
  const stop = watchCaller(caller, { headers, registers: context, refused: (err) => refused.abort(err) });
  return { refused: refused.signal, stop };
}

/** The same stream. Calls `ended` however it ends: the signal of a request whose answer was sent whole never aborts. */
function untilEnd(body: ReadableStream<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          ended();
          controller.close();
        } catch (err) {
          ended();
          controller.error(err);
        }
      },
      cancel(reason) {
        ended();
        return reader.cancel(reason);
      },
    },
    // Nothing is read before the client has taken what came before it.
    { highWaterMark: 0 },
  );
}
