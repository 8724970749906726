// The body of an upload, as long as its sender may send it.
import type { IncomingMessage } from 'node:http';

/** The bytes as they come. Throws the reason of `refused` once that aborts, also while none come. */
export async function* uploadBody(incoming: IncomingMessage, refused: AbortSignal): AsyncGenerator<Buffer> {
  // A refusal comes before the end of the body, and needs the connection for its answer.
  const pieces = incoming.iterator({ destroyOnReturn: false }) as AsyncGenerator<Buffer, void>;
  let fail: (reason: unknown) => void = () => undefined;
  const stop = (): void => fail(refused.reason);
  refused.addEventListener('abort', stop);
  try {
    for (;;) {
      refused.throwIfAborted();
      // A promise for each piece: one that lasted as long as the upload would keep all of them.
      const next = await new Promise<IteratorResult<Buffer, void>>((resolve, reject) => {
        fail = reject;
        pieces.next().then(resolve, reject);
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    refused.removeEventListener('abort', stop);
    // Ends with the next piece; the rest is dropped, so that the client comes to read the answer.
    void pieces.return().then(
      () => incoming.resume(),
      () => undefined,
    );
  }
}
