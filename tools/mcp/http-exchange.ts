// One HTTP request to an MCP server, with its answer, which may be a stream of events.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { MIB } from '../../contracts/sessions/quotas';
import { patientFetch, proxiedFetch } from '../../system/http/patient-fetch';

/** Unpacked: a small body may be packed from a huge one. Of a stream, each event may be as large. */
export const MAX_MESSAGE_MIB = 64;

/** For the end of a stream, after its answer. */
const LINGER_MS = 2_000;

export class Exchange {
  private readonly over = new AbortController();
  private isResumable = false;
  /** For a stream: what has ended it. */
  private ended: Promise<Error> | undefined;

  /** @param limit ends it, whether or not it was answered */
  constructor(private readonly limit?: AbortSignal) {}

  /** The `fetch` for the SDK. */
  async fetch(url: string | URL, init: RequestInit): Promise<Response> {
    const signals = [this.over.signal, init.signal, this.limit].filter(
      (signal) => signal !== undefined && signal !== null,
    );
    const signal = AbortSignal.any(signals);
    // A call has a time-out of its own. The stream of notifications has none: Node's finds out when it is dead.
    const send = init.method === 'POST' ? patientFetch : proxiedFetch;
    const response = await this.whileWanted(send(url, { ...init, signal }));
    return response.body
      ? new Response(this.watched(response, response.body, init.method === 'POST'), response)
      : response;
  }

  /** Ends it. The SDK hears no more of it: it would report the end as a fault, or resume the stream. */
  cancel(): void {
    this.over.abort();
  }

  /** The answer has come: a stream should end with it. */
  release(): void {
    setTimeout(() => this.cancel(), LINGER_MS).unref();
  }

  /** Its stream has events with ids: when it ends, the SDK goes on with another. */
  setResumable(): void {
    this.isResumable = true;
  }

  /** Resolves when the answer has been read; throws if it is a stream that has ended, with an answer or without. */
  async answered(): Promise<void> {
    const reason = await this.ended;
    if (reason && (!this.isResumable || reason instanceof HoldfastError)) throw reason;
  }

  private watched(
    response: Response,
    body: ReadableStream<Uint8Array>,
    isPost: boolean,
  ): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    let end: (reason: Error) => void = () => undefined;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const limit = new MessageLimit(isStream);
    if (isStream)
      this.ended = new Promise((resolve) => {
        // First, the SDK handles all that has come.
        end = (reason) => void setImmediate(() => resolve(reason));
      });
    const pull = async (out: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      try {
        const { done, value } = await this.whileWanted(reader.read());
        if (!done) {
          limit.count(value);
          return out.enqueue(value);
        }
        out.close();
        end(new Error('the stream of its answer ended without one'));
      } catch (err) {
        const isOurs = err instanceof HoldfastError;
        // The SDK would take that for a lost network, and ask for the same stream again.
        if (!(isOurs && isStream && isPost)) out.error(err);
        end(isOurs ? err : new Error(`its answer broke off: ${(err as Error).message}`, { cause: err }));
        await reader.cancel(err).catch(() => undefined);
      }
    };
    return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 });
  }

  /** The work's result; never settles if it was cancelled meanwhile. */
  private async whileWanted<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (err) {
      if (this.over.signal.aborted) return new Promise(() => undefined);
      throw err;
    }
  }
}

/** Throws `invalid_input` when a message is too long. */
class MessageLimit {
  private bytes = 0;
  private last = '';

  constructor(private readonly isStream: boolean) {}

  count(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    if (this.isStream) {
      // An empty line ends an event; it may come in two chunks.
      const text = this.last + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
      const at = Math.max(...['\n\n', '\r\n\r\n', '\r\r'].map((end) => text.lastIndexOf(end)));
      if (at >= 0) this.bytes = text.length - at;
      this.last = text.slice(-3);
    }
    if (this.bytes <= MAX_MESSAGE_MIB * MIB) return;
    const allowed = `${MAX_MESSAGE_MIB} MiB`;
    throw new HoldfastError('invalid_input', { what: 'its answer', got: `more than ${allowed}`, allowed });
  }
}
