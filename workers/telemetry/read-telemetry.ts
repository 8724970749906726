// `[telemetry]` for a process that is not a worker of the data folder: of the same configuration as its worker.
import { configurationSource, readConfiguration } from '../configuration/configuration';
import type { TelemetrySettings } from '../configuration/configured-telemetry';
import { recordedConfig } from '../configuration/recorded-choice';

/** `config`: null for the data folder's own, undefined for that of its last worker. Throws `config_invalid`. */
export function readTelemetry(dataDir: string, config: string | null | undefined): TelemetrySettings {
  const named = config === undefined ? recordedConfig(dataDir) : config;
  return readConfiguration(configurationSource({ dataDir, config: named ?? undefined })).telemetry;
}
