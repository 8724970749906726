// What a worker process says of itself in the data folder.
import { join } from 'node:path';
import type { Identity } from '../exec/process-identity';

export interface WorkerRecord {
  identity: Identity;
  address: string;
  namespace: string;
  host: string;
  /** Working folder of new shells. */
  cwd: string;
  /** Modules of own tools, by absolute path. */
  tools: string[];
  /** The configuration that was named; null: that of the data folder, where there is one. */
  config: string | null;
  /** When it began to poll, in milliseconds since the Unix epoch. */
  pollingSince: number;
}

export const workerPaths = (dataDir: string): { record: string; log: string; lock: string } => ({
  record: join(dataDir, 'worker.json'),
  log: join(dataDir, 'worker.log'),
  lock: join(dataDir, 'worker.lock'),
});
