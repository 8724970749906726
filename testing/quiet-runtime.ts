// Workers starting and stopping, and failing tasks, are normal in a test: its assertions report what matters.
import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

/** Logs only errors, unless the SDK's Runtime is already in use: then its user has chosen. */
export function quietenRuntime(): void {
  try {
    const logging = { filter: makeTelemetryFilterString({ core: 'ERROR' }) };
    Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging } });
  } catch {
    // In use already.
  }
}
