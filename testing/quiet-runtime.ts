// Workers that come and go, and tasks that fail, are no news in a test: its assertions tell what matters.
import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

/** Logs errors alone, unless the SDK's Runtime is in use already: then its user has chosen. */
export function quietenRuntime(): void {
  try {
    const logging = { filter: makeTelemetryFilterString({ core: 'ERROR' }) };
    Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging } });
  } catch {
    // In use already.
  }
}
