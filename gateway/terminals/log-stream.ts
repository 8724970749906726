// A session's whole log as a stream. Nothing is read before the client has taken what came before it, so the log is the
// only buffer.
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { shownPiece } from '../../exec/output/log-reader';
import type { SessionPlace } from './session-place';

const PIECE_BYTES = 256 * 1024;

/**
 * From the log's first byte to the end that it has now; a line says where a part is missing. Closes the place. The stream
 * breaks off, so that a part is not taken for the whole, when reading fails or `over` aborts.
 */
export async function logStream(place: SessionPlace, over: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const end = await place.end();
  const ended = new AbortController();
  let at = 0;
  const finish = (): void => {
    ended.abort();
    place.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const breakOff = (): void => {
          controller.error(brokenOff(over.reason));
          finish();
        };
        if (over.aborted) breakOff();
        else over.addEventListener('abort', breakOff, { once: true, signal: ended.signal });
      },
      async pull(controller) {
        if (at >= end) {
          finish();
          return controller.close();
        }
        try {
          const piece = await place.read(at, Math.min(at + PIECE_BYTES, end));
          if (piece.to <= at) throw new Error(`the log ends at ${at}, before ${end}`);
          at = piece.to;
          controller.enqueue(new Uint8Array(shownPiece(piece)));
        } catch (err) {
          finish();
          controller.error(brokenOff(err));
        }
      },
      cancel: finish,
    },
    { highWaterMark: 0 },
  );
}

/** The server of HTTP prints what a stream ends with: one line, no stack. */
function brokenOff(err: unknown): Error {
  const reason = err instanceof HoldfastError ? err.detail : reasonOf(err);
  const broken = new Error(`a download broke off: ${reason}`);
  broken.stack = broken.message;
  return broken;
}
