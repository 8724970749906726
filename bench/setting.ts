// The environment of all measurements: a server, Holdfast's worker and a worker for the bare workflows, in separate
// processes with their own data folder.
import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastClient } from '../client/holdfast-client';
import { defaultCacheDir } from '../system/data-dir';
import { ensureServer, stopServer } from '../engine/server';
import { detectTreeKill } from '../exec/processes/process-tree';
import { SessionHost } from '../exec/host/session-host';
import { ensureWorker, stopWorker } from '../workers/process/worker-process';
import { readJson } from '../system/json-file';
import { workerPaths, type WorkerRecord } from '../workers/process/worker-record';
import type { Row } from './measure';

export interface Bench {
  client: HoldfastClient;
  dataDir: string;
  /** Holdfast's worker, started if none runs. */
  worker: () => Promise<WorkerRecord>;
  /** Process ids. */
  server: number;
  workers: { ours: () => number; bare: () => number };
}

/** Rows that belong together, and leave nothing running. */
export type Group = (bench: Bench) => Promise<Row[]>;

export async function withBench(
  progress: (line: string) => void,
  measure: (bench: Bench) => Promise<void>,
): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const cacheDir = defaultCacheDir(process.env);
  const { address, identity } = await ensureServer({ dataDir, cacheDir, env: process.env, progress });
  await withWorkers({ dataDir, address, server: identity.pid }, measure);
}

/** The same on a server that is not ours; ends what it has started in the data folder, and removes it. */
export async function withWorkers(
  { dataDir, address, server }: { dataDir: string; address: string; server: number },
  measure: (bench: Bench) => Promise<void>,
): Promise<void> {
  const choice = { dataDir, address, namespace: 'default', env: process.env };
  const stop: (() => unknown)[] = [() => endAll(dataDir)];
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> =>
    (ending ??= (async () => {
      for (const each of stop.reverse()) await each();
    })());
  // Server, worker and shells are detached: they would outlive an interrupted bench.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void end().finally(() => process.exit(1)));
  try {
    await ensureWorker(choice);
    const bare = await startBareWorker(address);
    stop.push(() => bare.kill('SIGTERM'));
    const client = await HoldfastClient.connect({ address }, {});
    stop.push(() => client.close());
    const workers = { ours: () => workerPid(dataDir), bare: () => bare.pid ?? NaN };
    const worker = (): Promise<WorkerRecord> => ensureWorker(choice);
    await measure({ client, dataDir, worker, server, workers });
  } finally {
    await end();
  }
}

function workerPid(dataDir: string): number {
  const record = readJson<WorkerRecord>(workerPaths(dataDir).record);
  if (!record) throw new Error('no worker is running');
  return record.identity.pid;
}

async function endAll(dataDir: string): Promise<void> {
  await stopWorker(dataDir);
  const host = new SessionHost({ dataDir, cwd: '/', env: {}, treeKill: detectTreeKill() });
  await host.closeAll('the bench has ended');
  host.detach();
  await stopServer(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
}

function startBareWorker(address: string): Promise<ChildProcess> {
  const child = fork(join(__dirname, 'bare-worker.js'), [address]);
  return new Promise((resolve, reject) => {
    child.once('message', () => resolve(child));
    child.once('exit', (code) => reject(new Error(`the bare worker ended with ${code}`)));
  });
}

export const uniqueId = (prefix: string): string => `${prefix}-${randomBytes(4).toString('hex')}`;

/** Starts a workflow that answers updates with one activity; the signal `end` ends it. */
export async function bareSession({ client }: Bench): Promise<string> {
  const workflowId = uniqueId('bare-session');
  await client.temporal.workflow.start('bareSession', { workflowId, taskQueue: 'bare' });
  return workflowId;
}

/** Polls for a condition that nothing announces. */
export async function until(fact: () => boolean, everyMs = 5): Promise<void> {
  while (!fact()) await delay(everyMs);
}
