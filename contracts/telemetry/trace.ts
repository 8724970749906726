// Traces: the context that travels in Temporal's headers, never in payloads of ours, and what is known of a span once it
// has ended. The header is that of @temporalio/interceptors-opentelemetry, so traces join those of programs that use it.
// Pure.
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { sha256 } from '../sha256';

export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits; `NO_SPAN` at the root of a trace without a reported span. */
  spanId: string;
}

export interface SpanData extends TraceContext {
  parentSpanId: string;
  name: string;
  kind: 'internal' | 'client' | 'server';
  /** Milliseconds since the Unix epoch. */
  startMs: number;
  endMs: number;
  /** Names of OpenTelemetry's semantic conventions 1.37 where they have one, else `holdfast.`. */
  attributes: Record<string, string | number | boolean>;
  /** The code of an error; never its message, which may quote what was said. */
  error?: string | undefined;
}

/** Takes a span that has ended. Never throws, and never waits. */
export type ReportSpan = (span: SpanData) => void;

const TRACE_HEADER = '_tracer-data';
export const NO_SPAN = '0'.repeat(16);

type Headers = Record<string, Payload>;

/** Of a `traceparent` of W3C Trace Context. Undefined if there is none, if it is malformed, or not to be sampled. */
export function readTraceparent(text: unknown): TraceContext | undefined {
  if (typeof text !== 'string') return undefined;
  const [, version, traceId, spanId, flags] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/.exec(text.trim()) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const isSampled = Number.parseInt(flags, 16) % 2 === 1;
  return version === 'ff' || /^0+$/.test(traceId) || !isSampled ? undefined : { traceId, spanId };
}

export const writeTraceparent = ({ traceId, spanId }: TraceContext): string => `00-${traceId}-${spanId}-01`;

export function contextInHeaders(headers: Headers): TraceContext | undefined {
  const payload = headers[TRACE_HEADER];
  if (!payload) return undefined;
  try {
    const carrier = defaultPayloadConverter.fromPayload<{ traceparent?: unknown }>(payload);
    return readTraceparent(carrier.traceparent);
  } catch {
    // Anyone may send a header.
    return undefined;
  }
}

export const headersWith = (headers: Headers, context: TraceContext): Headers => ({
  ...headers,
  [TRACE_HEADER]: defaultPayloadConverter.toPayload({ traceparent: writeTraceparent(context) }),
});

/** The span of a command: it has the same id, no matter which process reports it, after however many kills. */
export const commandSpan = ({ traceId }: TraceContext, commandId: string): TraceContext => ({
  traceId,
  spanId: sha256(`${traceId} ${commandId}`).slice(0, 16),
});
