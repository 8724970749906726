// `[telemetry]` of `holdfast.toml`: where metrics and traces go.
import type { TelemetryEntry } from '../../contracts/schemas/configuration/telemetry-configuration';

export interface TelemetrySettings {
  /** `ADDRESS:PORT` at which Prometheus finds the metrics of a worker or a host; null: nowhere. */
  prometheus: string | null;
  /** The same of the gateway, which is another process. */
  prometheusGateway: string | null;
  /** Base URL of a collector that takes OTLP over HTTP, without a slash at its end; null: none. */
  otlp: string | null;
  /** Headers for the collector, by the variable that has the value. */
  headerVariables: Readonly<Record<string, string>>;
  /** Whether traces go to the collector. */
  traces: boolean;
  /** Whether spans hold what was said: prompts, answers, code. */
  content: boolean;
  /** Pause between two looks at what is counted at the server or on disk. */
  lookMs: number;
}

export const configuredTelemetry = (entry: TelemetryEntry): TelemetrySettings => ({
  prometheus: entry.prometheus ?? null,
  prometheusGateway: entry.prometheus_gateway ?? null,
  otlp: entry.otlp?.replace(/\/+$/, '') ?? null,
  headerVariables: entry.env_otlp_headers,
  traces: entry.traces && entry.otlp !== undefined,
  content: entry.content,
  lookMs: Math.ceil(entry.look_every_sec * 1_000),
});

/** Values of the headers; a variable that is not set is left out. */
export const collectorHeaders = (
  { headerVariables }: TelemetrySettings,
  env: NodeJS.ProcessEnv,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headerVariables).flatMap(([header, variable]) => {
      const value = env[variable];
      return value === undefined ? [] : [[header, value]];
    }),
  );
