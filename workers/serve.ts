// A worker process: agents and one host's shells. `holdfast up` starts it detached; a team may run it as a
// service. Says that it is ready by a record in the data folder.
import '../engine/compile-cache';
import { rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import { Runtime, makeTelemetryFilterString, DefaultLogger } from '@temporalio/worker';
import { armCrashPoint } from '../activities/crash-point';
import { resolveServer } from '../client/connect';
import { HoldfastError } from '../contracts/errors';
import { LOCAL_HOST } from '../contracts/ids';
import { writeJson } from '../exec/json-file';
import { identityOf } from '../exec/process-identity';
import { asStorageFailure } from '../exec/storage-failure';
import { usualWorkingFolder } from '../exec/working-folder';
import { createToolRegistry } from '../tools/registry';
import { builtInOptions, configurationSource, readConfiguration } from './configuration';
import { createWorkers } from './create-workers';
import { loadTools } from './tool-modules';
import { workerPaths, type WorkerRecord } from './worker-record';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      address: { type: 'string' },
      namespace: { type: 'string' },
      profile: { type: 'string' },
      host: { type: 'string', default: LOCAL_HOST },
      workdir: { type: 'string' },
      tools: { type: 'string', multiple: true, default: [] },
      config: { type: 'string' },
      check: { type: 'boolean', default: false },
    },
  });
  const { data: dataDir, host, tools: files, config } = values;
  if (!dataDir) throw new Error('--data is missing');
  if (values.check) {
    // Whether the tools could be served is all that is asked; a module may keep the process from ending.
    const configuration = readConfiguration(configurationSource({ dataDir, config }));
    const own = await loadTools([...configuration.modules, ...files]);
    createToolRegistry(own, [], builtInOptions(configuration));
    process.exit(0);
  }
  armCrashPoint(process.env.HOLDFAST_CRASH_AT);
  const log = new DefaultLogger('INFO');
  Runtime.install({
    logger: log,
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN' }) } },
  });
  const { address, namespace } = resolveServer(values, process.env);
  const workdir = values.workdir ?? process.env.HOLDFAST_WORKDIR ?? usualWorkingFolder(dataDir);
  const tools = await loadTools(files);
  const workers = await createWorkers({ ...values, dataDir, workdir, tools, log });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => workers.shutdown());

  const paths = workerPaths(dataDir);
  await workers.run({
    onReady({ pollingSince }) {
      const identity = identityOf(process.pid);
      const started = { identity, address, namespace, host, cwd: workdir, pollingSince };
      const record: WorkerRecord = { ...started, tools: files, config: config ?? null };
      writeJson(paths.record, record);
      // Not at its end: it may be killed.
      flushCompileCache();
    },
  });
  rmSync(paths.record, { force: true });
}

main().catch((err: unknown) => {
  // One line, because whoever started it shows the last lines of this log.
  const known = asStorageFailure(err);
  console.error(known instanceof HoldfastError ? `${known.code}: ${known.message}` : err);
  process.exit(1);
});
