// One HTTP request to an MCP server, with its answer, which may be a stream of events.
import { patientFetch } from '../../system/http/patient-fetch';

export class Exchange {
  private readonly over = new AbortController();
  private isResumable = false;
  /** For a stream: what has ended it. */
  private ended: Promise<Error> | undefined;

  /** The `fetch` for the SDK. */
  async fetch(url: string | URL, init: RequestInit): Promise<Response> {
    const signal = AbortSignal.any([this.over.signal, ...(init.signal ? [init.signal] : [])]);
    // A call has a time-out of its own. The stream of notifications has none: Node's finds out when it is dead.
    const send = init.method === 'POST' ? patientFetch : fetch;
    const response = await this.whileWanted(send(url, { ...init, signal }));
    return response.body ? new Response(this.watched(response, response.body), response) : response;
  }

  /** Ends it. The SDK hears no more of it: it would report the end as a fault, or resume the stream. */
  cancel(): void {
    this.over.abort();
  }

  /** Its stream has events with ids: when it ends, the SDK goes on with another. */
  setResumable(): void {
    this.isResumable = true;
  }

  /** Resolves when the answer has been read; throws if it is a stream that has ended, with an answer or without. */
  async answered(): Promise<void> {
    const reason = await this.ended;
    if (reason && !this.isResumable) throw reason;
  }

  private watched(response: Response, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    let end: (reason: Error) => void = () => undefined;
    if (response.headers.get('content-type')?.startsWith('text/event-stream'))
      this.ended = new Promise((resolve) => {
        // First, the SDK handles all that has come.
        end = (reason) => void setImmediate(() => resolve(reason));
      });
    const pull = async (out: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      try {
        const { done, value } = await this.whileWanted(reader.read());
        if (!done) return out.enqueue(value);
        out.close();
        end(new Error('the stream of its answer ended without one'));
      } catch (err) {
        out.error(err);
        end(new Error(`its answer broke off: ${(err as Error).message}`, { cause: err }));
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
