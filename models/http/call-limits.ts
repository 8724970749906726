// How long one call to a provider may take, and how large its answer may be. Node's own limit of five minutes is lifted: a
// model may think longer.
import { MIB } from '../../contracts/sessions/quotas';
import { patientFetch } from '../../system/http/patient-fetch';
import { UnexpectedAnswer } from './classify-error';

/** Unpacked: a small body may be packed from a huge one. No model writes as much. */
const MAX_ANSWER_MIB = 64;
/** In a stream each token comes in some hundred bytes of its own. */
const MAX_STREAM_MIB = 4 * MAX_ANSWER_MIB;

/** How a stream ends that is not cut within an event: with a blank line, or with OpenAI's last line. */
const STREAM_END = /(\n\r?\n|\r\r|\[DONE\]\s*)$/;
const LAST_LINE = /\[DONE\]\s*$/;
const STREAM_END_BYTES = 16;

export interface Limits {
  requestMs: number;
  streamIdleMs: number;
}

export class CallLimits {
  private readonly controller = new AbortController();
  private readonly whole: NodeJS.Timeout;
  private idle: NodeJS.Timeout | undefined;
  private isOver = false;
  private isBodyCut = false;
  /** The end of the last body, as far as it was read. */
  private tail = Buffer.alloc(0);
  /** Aborts with the caller's signal, or at a limit. */
  readonly signal: AbortSignal;
  /** Which limit ended the call. */
  hit: string | undefined;

  constructor(
    caller: AbortSignal,
    private readonly limits: Limits,
  ) {
    this.signal = AbortSignal.any([caller, this.controller.signal]);
    const { requestMs } = limits;
    this.whole = setTimeout(() => this.end(`no complete answer within ${requestMs} ms.`), requestMs);
  }

  /** The `fetch` for the SDK, instead of the global one. */
  readonly fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await patientFetch(url, init);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (!response.body) return response;
    if (isStream) this.restartIdle();
    const allowed = isStream ? MAX_STREAM_MIB : MAX_ANSWER_MIB;
    let left = allowed * MIB;
    this.tail = Buffer.alloc(0);
    this.isBodyCut = false;
    const watch = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, out) => {
        if (isStream) this.restartIdle();
        left -= chunk.length;
        if (left < 0) throw new UnexpectedAnswer(`its answer is longer than ${allowed} MiB`);
        const end = chunk.subarray(-STREAM_END_BYTES);
        this.tail = Buffer.concat([this.tail, end]).subarray(-STREAM_END_BYTES);
        out.enqueue(chunk);
      },
      flush: () => {
        this.isBodyCut = !STREAM_END.test(this.tail.toString('latin1'));
      },
    });
    return new Response(response.body.pipeThrough(watch), response);
  };

  /** Whether the last stream ended within an event. */
  readonly isCut = (): boolean => this.isBodyCut;

  /** Whether the last stream ended with OpenAI's last line. */
  readonly isDone = (): boolean =>
    // The SDK ends a stream that was aborted as if it were complete.
    !this.signal.aborted && LAST_LINE.test(this.tail.toString('latin1'));

  /** Call it when the call is over. */
  clear(): void {
    this.isOver = true;
    clearTimeout(this.whole);
    clearTimeout(this.idle);
  }

  private restartIdle(): void {
    // Late data of a finished call must not hold anything up.
    if (this.isOver) return;
    const { streamIdleMs } = this.limits;
    if (this.idle) this.idle.refresh();
    else
      this.idle = setTimeout(() => this.end(`its stream was silent for ${streamIdleMs} ms.`), streamIdleMs);
  }

  private end(limit: string): void {
    this.hit = limit;
    this.controller.abort();
  }
}
