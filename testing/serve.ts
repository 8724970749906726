// The workers of a test environment: those of production, with the host that the test wants.
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { detectTreeKill } from '../exec/holder/process-tree';
import { SessionHost } from '../exec/session-host';
import { composeWorkers, createWorkers, type WorkersOptions } from '../workers/create-workers';
import type { Workers, WorkersLog } from '../workers/workers';
import { RealHost } from './real-host';
import { SimulatedTerminals, type SimulatedHost } from './simulated-host';

export interface ServeOptions
  extends
    Required<Pick<WorkersOptions, 'dataDir' | 'tools' | 'models'>>,
    Pick<WorkersOptions, 'dataConverter'> {
  temporal: TestWorkflowEnvironment;
  host: SimulatedHost | RealHost;
}

export interface Serving {
  /** Ends the workers, and the shells that are open. */
  end(): Promise<void>;
}

/** A command that hangs is let go of when the environment closes; nobody is to be told. */
const QUIET: WorkersLog = { info: () => undefined, warn: () => undefined };

/** Where nothing real is run, nobody needs to be asked. */
const NOTHING_FOUND = {
  check: () => Promise.resolve({ verdicts: [], unparsed: null }),
  close: (): void => undefined,
};

/** Resolves when tasks are polled for. */
export async function serve({ temporal, host, ...shared }: ServeOptions): Promise<Serving> {
  const { nativeConnection: connection, namespace = 'default', address } = temporal;
  const { dataDir } = shared;
  const isReal = host instanceof RealHost;
  const where = { ...shared, connection, namespace, address };
  const workers = isReal
    ? await createWorkers({ ...where, ...host.options })
    : await composeWorkers(
        { ...where, log: QUIET },
        async () => new SimulatedTerminals(dataDir, host),
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
    const end = (): Promise<void> => {
      workers.shutdown();
      return closing(running);
    };
    return { end };
  } catch (err) {
    await closing(workers.close());
    throw err;
  }
}

/** `running` stands in an object, because a promise in a promise is waited for. */
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
