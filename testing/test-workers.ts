// The workers of a test environment: the production ones, with the test's host.
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { detectTreeKill } from '../exec/processes/process-tree';
import { SessionHost } from '../exec/host/session-host';
import { composeWorkers, createWorkers } from '../workers/create-workers';
import type { Workers, WorkersLog } from '../workers/workers';
import type { WorkersOptions } from '../workers/workers-options';
import { RealHost } from './real-host';
import { SimulatedTerminals, type SimulatedHost } from './simulated-host';

export interface ServeOptions extends Pick<WorkersOptions, 'dataDir' | 'tools' | 'models' | 'dataConverter'> {
  temporal: TestWorkflowEnvironment;
  host: SimulatedHost | RealHost;
}

export interface Serving {
  /** Ends the workers and the open shells. Throws the first error of the test's own code in a simulated host. */
  end(): Promise<void>;
}

/** A hanging command is abandoned when the environment closes; no caller needs to know. */
const QUIET: WorkersLog = { info: () => undefined, warn: () => undefined };

/** Nothing real runs, so nothing needs approval. */
const NOTHING_FOUND = {
  check: () => Promise.resolve({ verdicts: [], unparsed: null }),
  close: (): void => undefined,
};

/** Resolves when the workers poll for tasks. */
export async function serve({ temporal, host, ...shared }: ServeOptions): Promise<Serving> {
  const { nativeConnection: connection, namespace = 'default', address } = temporal;
  const { dataDir } = shared;
  const isReal = host instanceof RealHost;
  const faults: unknown[] = [];
  const where = { ...shared, connection, namespace, address };
  const workers = isReal
    ? await createWorkers({ ...where, ...host.options })
    : await composeWorkers(
        // A simulated host has no files.
        { ...where, log: QUIET, checkpoints: 'off' },
        async () => new SimulatedTerminals(dataDir, host, (err) => void faults.push(err)),
        NOTHING_FOUND,
      );
  const closing = async (ended: Promise<unknown>): Promise<void> => {
    try {
      await ended;
    } finally {
      if (isReal) await closeShells(dataDir);
    }
  };
  try {
    const { running } = await started(workers);
    const end = async (): Promise<void> => {
      workers.shutdown();
      await closing(running);
      if (faults.length > 0) throw faults[0];
    };
    return { end };
  } catch (err) {
    await closing(workers.close());
    throw err;
  }
}

/** `running` is in an object, because returning a promise from an async function would await it. */
function started(workers: Workers): Promise<{ running: Promise<void> }> {
  return new Promise((resolve, reject) => {
    const running = workers.run({ onReady: () => resolve({ running }) });
    running.catch(reject);
  });
}

async function closeShells(dataDir: string): Promise<void> {
  const host = new SessionHost({ dataDir, cwd: '/', env: {}, treeKill: detectTreeKill() });
  await host.closeAll('the test environment is closed');
  host.detach();
}
