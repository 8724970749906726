// A worker process: agents and one host's shells. `holdfast up` starts it detached; a team may run it as a service.
// Reports that it is ready by a record in the data folder.
import '../../system/compile-cache';
import { flushCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import { Runtime, makeTelemetryFilterString, DefaultLogger } from '@temporalio/worker';
import { armCrashPoint } from '../../activities/crash-point';
import { resolveServer } from '../../client/connect';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { LOCAL_HOST } from '../../contracts/ids';
import { removeQuietly, writeJson } from '../../system/json-file';
import { outliveLog } from '../../system/outlive-log';
import { ownRelease } from '../../system/package-root';
import { identityOf } from '../../system/process-identity';
import { asStorageFailure } from '../../system/storage-failure';
import { usualWorkingFolder } from '../../exec/working-folder';
import { createToolRegistry } from '../../tools/registry';
import { builtInOptions, configurationSource, readConfiguration } from '../configuration/configuration';
import { createWorkers } from '../create-workers';
import { exposedNow, moduleFiles, refuseExposed, refuseExposedParts } from '../configuration/exposed';
import { loadTools } from '../configuration/tool-modules';
import type { StartFailure } from './worker-process';
import { startBeating, workerPaths, type WorkerRecord } from './worker-record';

async function main(): Promise<void> {
  outliveLog();
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      address: { type: 'string' },
      namespace: { type: 'string' },
      profile: { type: 'string' },
      host: { type: 'string', default: LOCAL_HOST },
      'agents-only': { type: 'boolean', default: false },
      queue: { type: 'string' },
      join: { type: 'boolean', default: false },
      workdir: { type: 'string' },
      tools: { type: 'string', multiple: true, default: [] },
      config: { type: 'string' },
      check: { type: 'boolean', default: false },
    },
  });
  const { data: dataDir, tools: files, config } = values;
  const host = values['agents-only'] ? null : values.host;
  if (!dataDir) throw new Error('--data is missing');
  if (values.check) {
    // Only tests whether the tools load. Exits explicitly because a module may keep the process alive.
    const configuration = readConfiguration(configurationSource({ dataDir, config }));
    const exposed = exposedNow({ dataDir, config, workdir: values.workdir });
    refuseExposedParts(configuration, exposed);
    refuseExposed(moduleFiles(files), exposed);
    const own = await loadTools([...configuration.modules, ...files]);
    createToolRegistry(own, [], builtInOptions(configuration));
    process.exit(0);
  }
  armCrashPoint(process.env.HOLDFAST_CRASH_FILE);
  const log = new DefaultLogger('INFO');
  Runtime.install({
    logger: log,
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN' }) } },
  });
  const { address, namespace } = resolveServer(values, process.env);
  const workdir = values.workdir ?? process.env.HOLDFAST_WORKDIR ?? usualWorkingFolder(dataDir);
  refuseExposed(moduleFiles(files), exposedNow({ dataDir, config, workdir }));
  const tools = await loadTools(files);
  const workers = await createWorkers({ ...values, host, dataDir, workdir, tools, log });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => workers.shutdown());

  const paths = workerPaths(dataDir);
  const stopBeating = startBeating(dataDir);
  await workers.run({
    onReady({ pollingSince }) {
      const self = { identity: identityOf(process.pid), release: ownRelease() };
      const { queue } = workers.client.server;
      const started = { ...self, address, namespace, host, queue, cwd: workdir, pollingSince };
      const record: WorkerRecord = { ...started, tools: files, config: config ?? null };
      writeJson(paths.record, record);
      // Not at exit: the process may be killed.
      flushCompileCache();
    },
  });
  stopBeating();
  removeQuietly(paths.record);
}

main().catch((err: unknown) => {
  const known = asStorageFailure(err);
  // Reported to the starting process, if it still waits.
  if (known instanceof HoldfastError && process.connected)
    process.send?.({ code: known.code, facts: known.facts } satisfies StartFailure);
  // One line: the starting process shows the last lines of this log.
  console.error(known instanceof HoldfastError ? `${known.code}: ${known.message}` : err);
  process.exit(1);
});
