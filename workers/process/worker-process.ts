// Starts, finds and stops the detached worker process of a data folder: at most one.
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { connectTemporal, resolveServer } from '../../client/connect';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { LOCAL_HOST, MAIN_TASK_QUEUE } from '../../contracts/ids';
import { encryptedPayloads } from '../../encryption/data-converter';
import { killUnready, startDetached, stopDetached } from '../../system/processes/detached-process';
import { withLock } from '../../system/lock';
import { makeFolder } from '../../system/make-folder';
import { endGroup } from '../../system/processes/process-end';
import { compiledEntry } from '../../system/package-root';
import { workersConfiguration } from '../configuration/configuration';
import { secretStore } from '../configuration/configured-secrets';
import {
  recordedConfig,
  recordedQueue,
  recordedTools,
  recordedWorkdir,
  recordOptions,
  type WorkerOptions,
} from '../configuration/recorded-choice';
import { resetCaches } from '../agents/lost-workers';
import { lostInstances } from './task-journal';
import type { StartFailure } from './start-failure';
import {
  findSilentWorker,
  isOf,
  isOfThisRelease,
  lastWorker,
  runningWorker,
  workerPaths,
  type WorkerRecord,
} from './worker-record';

const STOP_GRACE_MS = 15_000;
const LOOK_EVERY_MS = 20;
/** A module may fetch its settings from somewhere while it loads. */
const LOAD_MS = 60_000;
const AWAKE_MS = 2_000;
/**
 * The young generation of a worker has 16 MB from the start: while modules and workflows load, V8 collects nothing then, a
 * tenth of the processor time of a start. In a burst of work it would grow to 128 MB in each thread, and stay.
 */
const NODE_FLAGS = ['--min-semi-space-size=16', '--max-semi-space-size=16'];
/**
 * Of the C library (mallopt(3)). Each thread of the SDK's core would keep freed memory in an arena of its own. And each
 * large block that is freed would raise the size from which blocks are mapped, up to 32 MB: smaller ones split the heap
 * up, and a worker grew by 50 kB with each turn. It gives the end of the heap back only from 32 MB on: with less, a turn
 * took a quarter more of its processor time. The systemd unit and the container set the same.
 */
export const MALLOC = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '33554432',
};

export interface WorkerChoice {
  dataDir: string;
  address: string;
  namespace: string;
  profile?: string | undefined;
  /** Working folder of new shells, by absolute path; null: the default. If absent: as before. */
  workdir?: string | null | undefined;
  /** Modules with the user's own tools, by absolute path; default: those of the data folder's previous worker. */
  tools?: readonly string[] | undefined;
  /** Configuration, by absolute path; null: that of the data folder. Default: as before. */
  config?: string | null | undefined;
  /** The host whose shells run here; null for agents alone. If absent: as the one that was killed, otherwise `local`. */
  host?: string | null | undefined;
  /** Task queue of the agents; null: the default. If absent: as before. */
  queue?: string | null | undefined;
  /** Serves agents even if other workers of the queue have a different offer. */
  join?: boolean | undefined;
  /** Ends a worker that does not answer, and starts another instead. */
  replace?: boolean | undefined;
  /** Replaces a worker of another release by one of this release. Otherwise any release will do. */
  thisRelease?: boolean | undefined;
  /** Called before an error that leaves the previous worker running. */
  onKept?: ((previous: WorkerRecord) => void) | undefined;
  env: NodeJS.ProcessEnv;
}

/**
 * Returns the data folder's worker, polling; starts it if needed. It outlives this process. Throws `worker_silent` for
 * one that exists but does not answer, `host_taken`, `queue_taken`, `namespace_missing`, `worker_failed` and faults of the
 * configuration.
 */
export async function ensureWorker(choice: WorkerChoice): Promise<WorkerRecord> {
  await refuseSilent(choice);
  const running = runningWorker(choice.dataDir);
  if (running && serves(running, choice) && !hasOptions(choice)) return running;
  makeFolder(choice.dataDir);
  return withLock(workerPaths(choice.dataDir).lock, async () => {
    // It is not waited for: its starter held this lock, and is gone.
    await killUnready(workerPaths(choice.dataDir).started, () => runningWorker(choice.dataDir)?.identity);
    const before = runningWorker(choice.dataDir);
    if (before && serves(before, choice)) {
      // Their records may be damaged: the options that are given again repair them.
      if (hasOptions(choice)) recordOptions(choice.dataDir, optionsOf(before));
      return before;
    }
    // Validated here, so that a fault is reported at once and with its own error.
    const { encryption, secrets } = workersConfiguration(choice.dataDir, choice.config);
    encryptedPayloads(encryption, choice.env);
    secretStore(secrets, choice.env);
    // In parallel with loading: otherwise a task for a killed worker's cache waits two seconds there.
    const search = new AbortController();
    const resetting = before ? undefined : resetLost(choice, search.signal);
    const started = await startWorker(choice, before).finally(() => search.abort());
    await resetting;
    return started;
  });
}

/** The next worker also does this itself, only later: a failure here costs nothing. */
async function resetLost(
  { address, namespace, profile, dataDir, queue, env }: WorkerChoice,
  signal: AbortSignal,
): Promise<void> {
  const instances = lostInstances(dataDir);
  if (instances.length === 0) return;
  try {
    const server = resolveServer({ address, namespace, profile }, env);
    const client = await connectTemporal(server);
    try {
      const taskQueue = queue ?? recordedQueue(dataDir) ?? MAIN_TASK_QUEUE;
      await resetCaches(client, { taskQueue, instances, signal });
    } finally {
      await client.connection.close();
    }
  } catch {
    // The server is down, or this process may not access it.
  }
}

/** A worker that was suspended together with the machine beats again within a moment. */
async function refuseSilent({ dataDir, replace }: WorkerChoice): Promise<void> {
  const until = performance.now() + AWAKE_MS;
  for (let silent = findSilentWorker(dataDir); silent; silent = findSilentWorker(dataDir)) {
    const running = runningWorker(dataDir);
    if (replace && running) await endGroup(running.identity, 0);
    else if (performance.now() > until) throw silent;
    else await delay(LOOK_EVERY_MS);
  }
}

/** Stops the data folder's worker, even while it starts; its sessions live on. False if none ran. */
export const stopWorker = (dataDir: string): Promise<boolean> =>
  stopDetached(workerPaths(dataDir).started, () => runningWorker(dataDir)?.identity, STOP_GRACE_MS);

const hasOptions = ({ tools, config, workdir, queue }: WorkerChoice): boolean =>
  [tools, config, workdir, queue].some((option) => option !== undefined);

const optionsOf = ({
  tools,
  config,
  workdir = null,
  queue = MAIN_TASK_QUEUE,
}: WorkerRecord): WorkerOptions => ({
  ...{ tools, config, workdir },
  queue: queue === MAIN_TASK_QUEUE ? null : queue,
});

const serves = (
  record: WorkerRecord,
  { address, namespace, workdir, tools, config, host, queue, thisRelease }: WorkerChoice,
): boolean =>
  (!thisRelease || isOfThisRelease(record)) &&
  record.address === address &&
  record.namespace === namespace &&
  (host === undefined || host === record.host) &&
  (queue === undefined || (queue ?? MAIN_TASK_QUEUE) === (record.queue ?? MAIN_TASK_QUEUE)) &&
  (workdir === undefined || workdir === record.workdir) &&
  (tools === undefined || isDeepStrictEqual(tools, record.tools)) &&
  (config === undefined || config === record.config);

function hostAsBefore({
  dataDir,
  ...place
}: Pick<WorkerChoice, 'dataDir' | 'address' | 'namespace'>): string | null {
  const last = lastWorker(dataDir);
  return last && isOf(last, place) ? last.host : LOCAL_HOST;
}

/** @param before of another server, choice or release; its sessions live on. It stays if the next one does not load. */
async function startWorker(
  {
    dataDir,
    address,
    namespace,
    profile,
    workdir = recordedWorkdir(dataDir),
    tools = recordedTools(dataDir),
    config = recordedConfig(dataDir),
    host = hostAsBefore({ dataDir, address, namespace }),
    queue = recordedQueue(dataDir),
    join = false,
    onKept,
    env,
  }: WorkerChoice,
  before: WorkerRecord | undefined,
): Promise<WorkerRecord> {
  const paths = workerPaths(dataDir);
  const { log } = paths;
  const args = ['--data', dataDir, '--address', address, '--namespace', namespace];
  if (profile) args.push('--profile', profile);
  if (workdir) args.push('--workdir', workdir);
  for (const file of tools) args.push('--tools', file);
  if (config) args.push('--config', config);
  args.push(...(host === null ? ['--agents-only'] : ['--host', host]));
  if (queue) args.push('--queue', queue);
  if (join) args.push('--join');
  if (before) args.push('--stand-by');
  const started = await startDetached({
    args: [...NODE_FLAGS, compiledEntry('workers/process/serve.js'), ...args],
    ...{ dataDir, name: 'The worker', record: paths.started, env: { ...MALLOC, ...env }, log },
    readyAs: (pid) => {
      const record = runningWorker(dataDir);
      return record?.identity.pid === pid ? record : undefined;
    },
    ...(before && {
      replaces: { makeRoom: () => endGroup(before.identity, STOP_GRACE_MS), loadMs: LOAD_MS },
    }),
  });
  if (started.ended === undefined) return started.facts;
  const { ended, tail, message, hasBegun } = started;
  const kept = hasBegun ? undefined : before;
  if (kept) onKept?.(kept);
  const keptFacts = kept && { keptPid: kept.identity.pid };
  if (message !== undefined) {
    const { code, facts } = message as StartFailure;
    // The same error as without a worker.
    throw HoldfastError.received(code, { ...facts, ...keptFacts });
  }
  throw new HoldfastError('worker_failed', { reason: `${ended}: ${tail}`, log, ...keptFacts });
}
