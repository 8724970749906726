// Sends spans to the collector that `[telemetry]` names, in batches. OpenTelemetry's libraries are loaded only then. A
// collector that is slow or away costs spans, and nothing else: they are dropped when 4,096 wait.
import { hostname } from 'node:os';
import type * as Api from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { NO_SPAN, type SpanData, type ReportSpan } from '../../contracts/telemetry/trace';
import { packageVersion } from '../../system/package-root';
import { collectorHeaders, type TelemetrySettings } from '../configuration/configured-telemetry';
import { beginningOf } from '../../contracts/text/well-formed';

export interface SpanOutlet {
  reportSpan: ReportSpan;
  /** Sends what waits, for a moment. */
  close(): Promise<void>;
}

const MAX_WAITING = 4_096;
const EVERY_MS = 1_000;
const EXPORT_MS = 5_000;
const CLOSE_MS = 1_500;

/** Null: no traces are wanted. `service`: which process of ours this is. */
export async function openSpans(
  settings: TelemetrySettings,
  service: 'worker' | 'gateway',
  warn: (message: string, facts: { reason: string }) => void,
): Promise<SpanOutlet | null> {
  if (!settings.traces || settings.otlp === null) return null;
  const [api, { BatchSpanProcessor }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const exporter = new OTLPTraceExporter({
    url: `${settings.otlp}/v1/traces`,
    headers: collectorHeaders(settings, process.env),
    timeoutMillis: EXPORT_MS,
  });
  let fault: string | undefined;
  const watched: typeof exporter = Object.assign(Object.create(exporter) as typeof exporter, {
    export: (...[spans, done]: Parameters<typeof exporter.export>) =>
      exporter.export(spans, (result) => {
        const reason = result.error && beginningOf(reasonOf(result.error), 300);
        if (reason !== undefined && reason !== fault) warn('traces could not be exported', { reason });
        fault = reason;
        done(result);
      }),
  });
  const processor = new BatchSpanProcessor({
    exporter: watched,
    maxQueueSize: MAX_WAITING,
    scheduledDelayMillis: EVERY_MS,
    exportTimeoutMillis: EXPORT_MS,
  });
  const resource = resources.resourceFromAttributes({
    'service.name': `holdfast-${service}`,
    'service.version': packageVersion(),
    'service.instance.id': `${process.pid}@${hostname()}`,
  });
  return {
    reportSpan: (span) => processor.onEnd(readableSpan(span, resource, api)),
    close: async () => {
      const over = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS).unref());
      await Promise.race([processor.shutdown().catch(() => undefined), over]);
    },
  };
}

function readableSpan(
  { traceId, spanId, parentSpanId, startMs, endMs, error, ...span }: SpanData,
  resource: ReadableSpan['resource'],
  { SpanKind, SpanStatusCode, TraceFlags }: typeof Api,
): ReadableSpan {
  const kinds = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER };
  const contextOf = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED });
  const isFailed = error !== undefined;
  return {
    name: span.name,
    kind: kinds[span.kind],
    spanContext: () => contextOf(spanId),
    ...(parentSpanId !== NO_SPAN && { parentSpanContext: contextOf(parentSpanId) }),
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(Math.max(0, endMs - startMs)),
    status: isFailed ? { code: SpanStatusCode.ERROR, message: error } : { code: SpanStatusCode.UNSET },
    attributes: { ...span.attributes, ...(isFailed && { 'error.type': error }) },
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: { name: 'holdfast', version: packageVersion() },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Seconds and nanoseconds. */
const hrTime = (ms: number): [number, number] => [Math.trunc(ms / 1_000), Math.round((ms % 1_000) * 1e6)];
