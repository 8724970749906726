// The process's meter, if its runtime exports metrics: ours, or an embedder's own.
import { noopMetricMeter, type MetricMeter } from '@temporalio/common';
import { Runtime } from '@temporalio/worker';
import { gauge } from '../../contracts/telemetry/metrics';
import type { TelemetrySettings } from '../configuration/configured-telemetry';

export interface WantedMetrics {
  meter: MetricMeter;
  /** Pause between two looks at what is counted at the server or on disk. */
  everyMs: number;
}

export function wantedMetrics({ lookMs }: TelemetrySettings): WantedMetrics | null {
  const { metricMeter: meter } = Runtime.instance();
  return meter === noopMetricMeter ? null : { meter, everyMs: lookMs };
}

/** What a worker knows when it begins to serve. */
type Start = Record<'pollingSince' | 'adopted' | 'orphans' | 'open', number>;

export function reportStart({ meter }: WantedMetrics, { pollingSince, adopted, orphans, open }: Start): void {
  gauge(meter, 'holdfast_start_time_seconds', {}, pollingSince / 1_000);
  gauge(meter, 'holdfast_recovered', { what: 'command' }, adopted);
  gauge(meter, 'holdfast_recovered', { what: 'activity' }, orphans);
  gauge(meter, 'holdfast_recovered', { what: 'workflow' }, open);
}
