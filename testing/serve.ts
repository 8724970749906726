// The workers of a test environment: those of production, with the host that the test wants.
import { join } from 'node:path';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { LOCAL_HOST } from '../contracts/ids';
import { detectTreeKill } from '../exec/holder/process-tree';
import { SessionHost } from '../exec/session-host';
import { createWorkers, type WorkersOptions } from '../workers/create-workers';
import { createHostWorker } from '../workers/host-worker';
import { TaskJournal } from '../workers/task-journal';
import type { Workers } from '../workers/workers';
import { RealHost } from './real-host';
import { SimulatedTerminals, type SimulatedHost } from './simulated-host';

export interface ServeOptions extends Required<Pick<WorkersOptions, 'dataDir' | 'tools' | 'models'>> {
  temporal: TestWorkflowEnvironment;
  host: SimulatedHost | RealHost;
}

export interface Serving {
  /** Ends the workers, and the shells that are open. */
  end(): Promise<void>;
}

/** Resolves when tasks are polled for. */
export async function serve({ temporal, host, ...shared }: ServeOptions): Promise<Serving> {
  const { nativeConnection: connection, namespace = 'default', address } = temporal;
  const isReal = host instanceof RealHost;
  const where = { ...shared, connection, namespace, address };
  const workers = await createWorkers({ ...where, ...(isReal ? host.options : { host: null }) });
  const endSimulated = isReal ? undefined : await serveSimulated(host, where, workers);
  const { running } = await started(workers);
  const end = async (): Promise<void> => {
    workers.shutdown();
    await running;
    await endSimulated?.();
    if (isReal) await closeShells(shared.dataDir);
  };
  return { end };
}

/** `running` stands in an object, because a promise in a promise is waited for. */
function started(workers: Workers): Promise<{ running: Promise<void> }> {
  return new Promise((resolve, reject) => {
    const running = workers.run({ onReady: () => resolve({ running }) });
    running.catch(reject);
  });
}

async function serveSimulated(
  host: SimulatedHost,
  {
    connection,
    namespace,
    dataDir,
  }: Required<Pick<WorkersOptions, 'connection' | 'dataDir'>> & { namespace: string },
  { client }: Workers,
): Promise<() => Promise<void>> {
  const sessions = new SimulatedTerminals(dataDir, host);
  const journal = new TaskJournal(join(dataDir, 'tasks'));
  // A command that hangs is let go of when the environment closes; nobody is to be told.
  const log = (): void => undefined;
  const shared = { connection, namespace, client, journal, log };
  const hostWorker = await createHostWorker({ ...shared, host: LOCAL_HOST, sessions });
  const running = hostWorker.worker.run();
  return async () => {
    hostWorker.worker.shutdown();
    await running;
    await hostWorker.detach();
    journal.close();
  };
}

async function closeShells(dataDir: string): Promise<void> {
  const host = new SessionHost({ dataDir, cwd: '/', env: {}, treeKill: detectTreeKill() });
  await host.closeAll('the test environment is closed');
  host.detach();
}
