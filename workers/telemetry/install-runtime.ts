// The SDK's runtime of a process of ours, with the exporter of metrics that `[telemetry]` names. Ours go through the
// same exporter (docs/decisions/0017-states-webhooks-metrics-and-logs.md).
import { Runtime, type Logger, type RuntimeOptions } from '@temporalio/worker';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { BUCKETS } from '../../contracts/telemetry/metrics';
import { collectorHeaders, type TelemetrySettings } from '../configuration/configured-telemetry';

type MetricsExporter = NonNullable<RuntimeOptions['telemetryOptions']>['metrics'];

const EXPORT_EVERY_MS = 10_000;

/** Undefined: no metrics are wanted. `place` is where Prometheus looks, and comes before a collector. */
export function metricsExporter(
  settings: TelemetrySettings,
  place: string | null,
  env: NodeJS.ProcessEnv,
): MetricsExporter | undefined {
  const shared = { useSecondsForDurations: true, histogramBucketOverrides: BUCKETS };
  if (place !== null)
    return {
      attachServiceName: false,
      prometheus: { bindAddress: place, countersTotalSuffix: true, unitSuffix: true, ...shared },
    };
  if (settings.otlp === null) return undefined;
  const headers = collectorHeaders(settings, env);
  const url = `${settings.otlp}/v1/metrics`;
  return { otel: { url, http: true, headers, metricsExportInterval: EXPORT_EVERY_MS, ...shared } };
}

export interface RuntimeChoice {
  logger: Logger;
  metrics: MetricsExporter | undefined;
  /** What of the SDK's native code is logged: an env filter. */
  filter?: string;
  warn: (message: string, facts: { reason: string }) => void;
}

/**
 * To be called once, before anything else of the SDK. Metrics are no reason not to work: where they cannot be offered,
 * for example because the port is taken, the process warns and goes on without.
 */
export function installRuntime({ logger, metrics, filter, warn }: RuntimeChoice): void {
  const logging = filter === undefined ? {} : { logging: { filter } };
  try {
    Runtime.install({ logger, telemetryOptions: { ...logging, ...(metrics && { metrics }) } });
  } catch (err) {
    if (!metrics) throw err;
    warn('metrics are not offered', { reason: reasonOf(err) });
    Runtime.install({ logger, telemetryOptions: logging });
  }
}
