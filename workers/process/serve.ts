// A worker process: agents and one host's shells. `holdfast up` starts it detached; a team may run it as a service.
// Reports that it is ready by a record in the data folder.
import '../../system/compile-cache';
import { flushCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import { Runtime, makeTelemetryFilterString, DefaultLogger } from '@temporalio/worker';
import { armCrashPoint } from '../../activities/crash-point';
import { resolveServer } from '../../client/connect';
import { LOCAL_HOST } from '../../contracts/ids';
import { removeQuietly, writeJson } from '../../system/json-file';
import { outliveLog } from '../../system/outlive-log';
import { ownRelease } from '../../system/package-root';
import { identityOf } from '../../system/process-identity';
import { usualWorkingFolder } from '../../exec/working-folder';
import { createWorkers } from '../create-workers';
import { exposedNow, moduleFiles, refuseExposed } from '../configuration/exposed';
import { loadTools } from '../configuration/tool-modules';
import { reportFailure } from './start-failure';
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
    },
  });
  const { data: dataDir, tools: files, config } = values;
  const host = values['agents-only'] ? null : values.host;
  if (!dataDir) throw new Error('--data is missing');
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

main().catch(reportFailure);
