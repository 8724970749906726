// A file of a host as the stream of an answer: it breaks off where the file cannot be sent whole.
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { Channel } from '../../exec/transfer/channel';

/** Closes the channel at the end, when `over` aborts, and when the client goes away. */
export function fileStream(
  channel: Channel,
  data: AsyncGenerator<Buffer>,
  over: AbortSignal,
): ReadableStream<Uint8Array> {
  const finish = (): void => {
    over.removeEventListener('abort', finish);
    channel.close();
  };
  over.addEventListener('abort', finish);
  if (over.aborted) finish();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next: IteratorResult<Buffer, unknown> = await data.next();
          if (next.done === true) {
            finish();
            controller.close();
          } else controller.enqueue(new Uint8Array(next.value));
        } catch (err) {
          finish();
          controller.error(brokenOff(over.aborted ? over.reason : err));
        }
      },
      cancel: finish,
    },
    { highWaterMark: 0 },
  );
}

/** The server of HTTP prints what a stream ends with: one line, no stack. */
function brokenOff(err: unknown): Error {
  const broken = new Error(`a file broke off: ${err instanceof HoldfastError ? err.detail : reasonOf(err)}`);
  broken.stack = broken.message;
  return broken;
}
