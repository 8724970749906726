// A worker process: agents and one host's shells. `holdfast up` starts it detached; a team may run it as a
// service. Says that it is ready by a record in the data folder.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { NativeConnection, Runtime, makeTelemetryFilterString, DefaultLogger } from '@temporalio/worker';
import { resolveServer, connectTemporal } from '../client/connect';
import { HoldfastClient } from '../client/holdfast-client';
import { LOCAL_HOST, checkedId } from '../contracts/ids';
import { reasonOf } from '../contracts/errors';
import { writeJson } from '../exec/json-file';
import { detectTreeKill } from '../exec/holder/process-tree';
import { identityOf } from '../exec/process-identity';
import { sessionEnvironment } from '../exec/session-environment';
import { createAgentWorker } from './agent-worker';
import { createHostWorker } from './host-worker';
import { resetStickyQueues } from './reset-sticky';
import { registerSearchAttributes } from './search-attributes';
import { TaskJournal } from './task-journal';
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
    },
  });
  const dataDir = values.data;
  if (!dataDir) throw new Error('--data is missing');
  const host = checkedId('host', values.host);
  const logger = new DefaultLogger('INFO');
  Runtime.install({
    logger,
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN' }) } },
  });
  const server = resolveServer(values, process.env);
  const { address, namespace } = server;
  const client = new HoldfastClient(await connectTemporal(server), address);
  const { tls, apiKey, metadata } = server.connection ?? {};
  const connection = await NativeConnection.connect({
    address,
    ...(tls && { tls }),
    ...(typeof apiKey === 'string' && { apiKey }),
    ...(metadata && { metadata }),
  });
  await registerSearchAttributes(client.temporal).catch((err: unknown) =>
    logger.warn('search attributes could not be registered', { reason: reasonOf(err) }),
  );
  const journal = new TaskJournal(join(dataDir, 'tasks'));
  const cwd = values.workdir ?? process.env.HOLDFAST_WORKDIR ?? join(dataDir, 'work');
  mkdirSync(cwd, { recursive: true });
  const shared = { connection, namespace, client, journal };
  const sessions = { dataDir, cwd, env: sessionEnvironment(process.env), treeKill: detectTreeKill() };
  const log = (message: string, facts: object): void => logger.warn(message, { ...facts });
  const hostWorker = await createHostWorker({ ...shared, ...sessions, host, log });
  const agentWorker = await createAgentWorker(shared);
  // Before anything of the dead worker's is answered: each answer is a workflow task that must come to us.
  const open = journal.hasOrphans() ? await resetStickyQueues(client.temporal) : 0;
  const workers = [agentWorker, hostWorker.worker];
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => workers.forEach((w) => stop(w)));

  const pollingSince = Date.now();
  const running = Promise.all(workers.map((worker) => worker.run()));
  // Only now: what is answered is handed out at once, and must find us polling.
  const adopted = hostWorker.adopt();
  const orphans = await journal.failOrphans(client.temporal);
  const paths = workerPaths(dataDir);
  const record: WorkerRecord = {
    identity: identityOf(process.pid),
    address,
    namespace,
    host,
    cwd,
    pollingSince,
  };
  writeJson(paths.record, record);
  logger.info('ready', { address, namespace, host, adopted, orphans, open });
  await running;
  await hostWorker.detach();
  journal.close();
  rmSync(paths.record, { force: true });
  await client.close();
  await connection.close();
}

function stop(worker: { shutdown(): void; getState(): string }): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}

main().catch((err: unknown) => {
  console.error(err);
  process.exit(1);
});
