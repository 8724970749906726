// Runs the workers of a data folder in this process until SIGINT or SIGTERM: for `holdfast up`, which starts it
// detached, and for `holdfast worker`, which a service manager starts.
import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { makeTelemetryFilterString } from '@temporalio/worker';
import { resolveServer } from '../../client/connect';
import { serverTrouble } from '../../client/delivery/server-trouble';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { wantedWorkingFolder } from '../../exec/working-folder';
import { CleanupStack } from '../../system/cleanup-stack';
import { removeQuietly } from '../../system/json-file';
import { keepBounded } from '../../system/log/bounded-log';
import { outliveLog } from '../../system/log/outlive-log';
import { ProcessLog } from '../../system/log/process-log';
import { ownRelease } from '../../system/package-root';
import { identityOf } from '../../system/processes/process-identity';
import { writeProcessRecord } from '../../system/processes/process-record';
import { workersConfiguration } from '../configuration/configuration';
import { exposedNow, moduleFiles, refuseExposed } from '../configuration/exposed';
import { recordOptions } from '../configuration/recorded-choice';
import { loadTools } from '../tools/tool-modules';
import type { Workers } from '../workers';
import { createWorkers } from '../create-workers';
import { installRuntime, metricsExporter } from '../telemetry/install-runtime';
import { serveProbes } from './probes';
import { runningWorker, startBeating, workerPaths, type WorkerRecord } from './worker-record';

/**
 * When V8 collects the old generation: at a third more than what was alive the last time. By itself it waits until the heap
 * has doubled or tripled in each of two threads, and what it once took from the system it seldom gives back.
 */
const COLLECT_SOONER = '--heap-growing-percent=30';

export interface RunOptions {
  dataDir: string;
  address?: string | undefined;
  namespace?: string | undefined;
  profile?: string | undefined;
  /** The host whose shells run here; null for agents alone. */
  host: string | null;
  queue?: string | undefined;
  join?: boolean | undefined;
  /** Working folder of new shells, by absolute path. */
  workdir?: string | undefined;
  /** Modules with the user's own tools, by absolute path. */
  tools: readonly string[];
  /** Configuration, by absolute path. Default: that of the data folder. */
  config?: string | undefined;
  /** `ADDRESS:PORT` of `/healthz` and `/readyz`. Default: none. */
  probes?: string | undefined;
  /** How long steps that run may take to end, once the process is asked to stop, in milliseconds. */
  drainMs?: number | undefined;
  /** The next start takes the same options: they are recorded once it polls. */
  isLasting?: boolean | undefined;
  /** Called once it polls. */
  onReady?: (record: WorkerRecord) => void;
}

/**
 * Serves until it is asked to stop, then drains. Throws what `createWorkers` throws, and `worker_running`
 * and `port_in_use`.
 */
export async function runWorker(options: RunOptions): Promise<void> {
  outliveLog();
  setFlagsFromString(COLLECT_SOONER);
  const { dataDir, config, host, tools: files } = options;
  const running = runningWorker(dataDir);
  if (running && running.identity.pid !== process.pid)
    throw new HoldfastError('worker_running', { dataDir, host: running.host ?? 'none' });
  const { log: settings, telemetry } = workersConfiguration(dataDir, config ?? null);
  const log = new ProcessLog('worker', settings.level).takeWarnings();
  const paths = workerPaths(dataDir);
  // Also if it fails: an embedder's process, or a test's, may live on.
  using cleanup = new CleanupStack();
  cleanup.defer(keepBounded(paths.log, settings, (message, facts) => log.warn(message, facts)));
  installRuntime({
    logger: log,
    metrics: metricsExporter(telemetry, telemetry.prometheus, process.env),
    filter: makeTelemetryFilterString({ core: 'WARN' }),
    warn: (message, facts) => log.warn(message, facts),
  });
  const { address, namespace } = resolveServer(options, process.env);
  const workdir = wantedWorkingFolder(dataDir, options.workdir, process.env);
  refuseExposed(moduleFiles(files), exposedNow({ dataDir, config: config ?? null, workdir }));
  const tools = await loadTools(files);
  // By name: the command line's options have more.
  const { namespace: givenNamespace, profile, queue, join, drainMs } = options;
  const where = { address: options.address, namespace: givenNamespace, profile, queue, join };
  const workers = await createWorkers({ ...where, dataDir, config, host, workdir, tools, drainMs, log });
  const readiness: Readiness = { trouble: 'it is starting' };
  const probes = await probesOf(workers, options.probes, readiness);
  if (probes) cleanup.defer(() => probes.close());
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      log.info('told to stop', { signal });
      readiness.trouble = 'it is stopping';
      workers.shutdown();
    });
  cleanup.defer(startBeating(dataDir));
  cleanup.defer(() => removeQuietly(paths.record));
  await workers.run({
    onReady({ pollingSince }) {
      const self = { identity: identityOf(process.pid), release: ownRelease() };
      const { queue } = workers.client.server;
      const started = { ...self, address, namespace, host, queue, cwd: workdir, pollingSince };
      const named = { tools: [...files], config: config ?? null, workdir: options.workdir ?? null };
      const record: WorkerRecord = { ...started, ...named };
      // Before others take this worker as ready, and the options that they find as its own.
      if (options.isLasting) recordOptions(dataDir, { ...named, queue: options.queue ?? null });
      writeProcessRecord(paths.record, record);
      // Not at exit: the process may be killed.
      flushCompileCache();
      readiness.trouble = null;
      options.onReady?.(record);
    },
  });
  log.info('stopped', {});
}

interface Readiness {
  /** Why it is not ready; null: it is. */
  trouble: string | null;
}

/** Throws what `serveProbes` throws; the workers are closed then. */
async function probesOf(
  workers: Workers,
  place: string | undefined,
  readiness: Readiness,
): Promise<Awaited<ReturnType<typeof serveProbes>> | undefined> {
  if (place === undefined) return undefined;
  try {
    return await serveProbes(place, async () => readiness.trouble ?? serverTrouble(workers.client));
  } catch (err) {
    await workers.close();
    throw err;
  }
}
