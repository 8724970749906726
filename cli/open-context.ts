// Opens the context of a command: starts what it needs, connects, and keeps that running.
import { existsSync, rmSync } from 'node:fs';
import { connectTemporal, resolveServer } from '../client/connect';
import type { Client } from '@temporalio/client';
import { PATIENCE_MS } from '../client/server-facts';
import { HoldfastClient } from '../client/holdfast-client';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { inertLine } from '../contracts/text/inert';
import { LOCAL_HOST, MAIN_TASK_QUEUE } from '../contracts/ids';
import { encryptedPayloads } from '../encryption/data-converter';
import { runningDetached } from '../gateway/gateway-record';
import { defaultCacheDir } from '../system/data-dir';
import {
  ensureServer,
  findSilentServer,
  isGuarded,
  runningServer,
  uiLink,
  type EngineRecord,
} from '../engine/server';
import { stopMarker } from '../system/processes/stop-marker';
import { engineEnvironment } from '../workers/configuration/exposed';
import { readClientSettings } from '../workers/configuration/read-client-settings';
import { chosenConfig, recordedQueue } from '../workers/configuration/recorded-choice';
import { ensureWorker, type WorkerChoice } from '../workers/process/worker-process';
import {
  findSilentWorker,
  isOf,
  lastWorker,
  runningWorker,
  type WorkerRecord,
} from '../workers/process/worker-record';
import { sameServer } from './print/next-step';
import { keepRunning } from './waiting/keep-running';
import { configOf, dataDirOf, ownHost, type GlobalOptions } from './global-options';
import { tellIfSlow, tellOfWait } from './waiting/tell-if-slow';
import { note, noteUnless } from './terminal/terminal-style';
import { watchDisk } from './waiting/watch-disk';

/** Open with `await using`: until disposed, it keeps the server and the worker running. */
export interface CliContext extends AsyncDisposable {
  client: HoldfastClient;
  dataDir: string;
  namespace: string;
  /** Our own Temporal web UI, if any; it answers browsers that were admitted. */
  uiUrl: string | null;
  /** A link to a path of the web UI that admits a browser; for people only, because it contains the token. */
  uiLink: (path?: string) => string | null;
  worker: WorkerRecord | undefined;
  /** The default host. */
  host: string;
}

export interface OpenOptions {
  /** Starts the embedded server and its worker if no server is named and none runs. */
  start: boolean;
  /**
   * Starts neither a server nor a first worker, but restarts those that ran and died, also before this command. For those
   * that wait for an answer.
   */
  restarts?: boolean;
  /** Starts nothing while a `down` applies: it was started by another command, before that `down`. */
  staysStopped?: boolean;
  /** Also starts a worker for a named server. */
  startWorker?: boolean;
  /** Only reports a disk on which the server cannot write: the wait resumes when the disk does. */
  staysOnFullDisk?: boolean;
  /** Its requests come from others: what cannot be answered fails, and the process stays. */
  answersOthers?: boolean;
  /** How long a request is repeated while the server is away. Default: a minute. */
  patienceMs?: number;
  port?: number | undefined;
  uiPort?: number | undefined;
  /** Absolute path; null: the default again. */
  workdir?: string | null | undefined;
  /** Modules with the user's own tools, as absolute paths; default: as before. */
  tools?: string[] | undefined;
  /** The host whose shells run here; null for agents alone. */
  host?: string | null | undefined;
  /** Task queue of the agents; null: the default again. */
  queue?: string | null | undefined;
  join?: boolean | undefined;
  replace?: boolean | undefined;
  /** Replaces a worker of another release. */
  thisRelease?: boolean | undefined;
  /** The named configuration is that of this process alone: a worker gets it only if the data folder never had one. */
  ownConfig?: boolean;
}

/** What ends a part of a context. */
type Closing = () => unknown;

/** Throws `no_server` when no server is named, none runs and none may be started. Then nothing of it stays open. */
export async function openContext(options: GlobalOptions, open: OpenOptions): Promise<CliContext> {
  const opened: Closing[] = [];
  const close = async (): Promise<void> => {
    for (const part of opened.splice(0).reverse()) await part();
  };
  try {
    return { ...(await partsOf(options, open, opened)), [Symbol.asyncDispose]: close };
  } catch (err) {
    await close().catch(() => undefined);
    throw err;
  }
}

/** @param opened gets what must be closed, each as soon as it is open */
async function partsOf(
  options: GlobalOptions,
  open: OpenOptions,
  opened: Closing[],
): Promise<Omit<CliContext, keyof AsyncDisposable>> {
  const dataDir = dataDirOf(options);
  if (open.start && !open.staysStopped) rmSync(stopMarker(dataDir), { force: true });
  const server = resolveServer(options, process.env);
  const progress = noteUnless(options.json);
  const before = runningWorker(dataDir);
  const workersConfig = open.ownConfig && lastWorker(dataDir) ? undefined : configOf(options);
  const engine = server.isConfigured
    ? undefined
    : await embeddedServer(dataDir, { ...open, config: workersConfig, progress });
  const watch = { json: options.json ?? false, stay: open.staysOnFullDisk ?? false };
  if (engine) opened.push(watchDisk(dataDir, watch));
  const address = engine?.address ?? server.address;
  const { namespace } = server;
  // The embedded server's process tells more, and sooner.
  const { patienceMs = engine ? undefined : PATIENCE_MS } = open;
  const connect = (): Promise<Client> => {
    const { encryption, startsTraces } = readClientSettings(dataDir, configOf(options));
    const more = { dataConverter: encryptedPayloads(encryption), patienceMs, startsTraces };
    const connecting = connectTemporal({ ...server, address }, more);
    return tellIfSlow(`the Temporal server at ${address}`, connecting);
  };
  const configured = (): string | null => chosenConfig(dataDir, configOf(options));
  const config = configured();
  let temporal = await connect();
  opened.push(() => temporal.connection.close());
  const startsWorker = engine ? open.start : open.startWorker;
  const asBefore = {
    dataDir,
    address,
    namespace,
    profile: options.profile,
    onKept: options.json
      ? undefined
      : ({ identity }: WorkerRecord): void =>
          note(`the previous worker (pid ${identity.pid}) keeps running as it was`),
    env: process.env,
  };
  const choice = {
    ...asBefore,
    workdir: open.workdir,
    tools: open.tools,
    config: workersConfig,
    host: open.host,
    queue: open.queue,
    join: open.join,
    replace: open.replace,
    thisRelease: open.thisRelease,
  };
  const keepsWorker =
    engine !== undefined &&
    (open.start || (open.restarts === true && hadWorker(dataDir, { address, namespace })));
  const worker = startsWorker
    ? await tellIfSlow('the worker to start', ensureWorker(choice))
    : (runningWorker(dataDir) ?? (keepsWorker ? await restarted(asBefore) : undefined));
  // Another command has started this worker meanwhile, with another configuration, which may encrypt.
  if (startsWorker && configured() !== config) {
    await temporal.connection.close();
    temporal = await connect();
  }
  if (startsWorker && !open.thisRelease) {
    tellOfWorker(before, worker, progress);
    tellOfGateway(options);
  }
  // Another command may have chosen differently since: what counts is recorded.
  const restart = {
    server: async () => {
      const next = await embeddedServer(dataDir, { start: true, progress });
      if (next.address === address) return;
      await ensureWorker({ ...asBefore, address: next.address });
      throw new HoldfastError('engine_moved', { got: next.address, before: address });
    },
    worker: () => ensureWorker(asBefore),
  };
  const { answersOthers } = open;
  const kept = keepsWorker ? keepRunning(dataDir, restart, { ...options, answersOthers }) : undefined;
  if (kept) opened.push(kept.stop);
  const client = new HoldfastClient(temporal, address, {
    queue: worker?.queue ?? recordedQueue(dataDir) ?? MAIN_TASK_QUEUE,
    keepsWorker,
    patienceMs,
    onDelay: tellOfWait,
    // The data folder's worker may serve another place.
    findSilentWorker: () => kept?.fault() ?? findSilentWorker(dataDir, { address, namespace }),
  });
  return {
    client,
    dataDir,
    namespace,
    uiUrl: engine?.uiUrl ?? null,
    uiLink: (path) => (engine ? uiLink(dataDir, engine, path) : null),
    worker,
    host: engine ? LOCAL_HOST : await ownHost(options),
  };
}

/** A worker has one configuration, and all agents with it. */
function tellOfWorker(
  before: WorkerRecord | undefined,
  worker: WorkerRecord | undefined,
  tell: (line: string) => void,
): void {
  if (!before || !worker || before.config === worker.config) return;
  const [had, has] = [before, worker].map(({ config }) => inertLine(config ?? 'that of the data folder'));
  tell(`the worker was started again with the configuration ${has}, for all agents; it had ${had}`);
}

/** Whether a worker of this place was started in the data folder, and no `down` has ended it since. */
function hadWorker(dataDir: string, place: { address: string; namespace: string }): boolean {
  const last = lastWorker(dataDir);
  return last !== undefined && isOf(last, place) && !existsSync(stopMarker(dataDir));
}

/** Undefined if it cannot be: while the command waits, that is tried again, and told. */
const restarted = (choice: WorkerChoice): Promise<WorkerRecord | undefined> =>
  tellIfSlow('the worker to start', ensureWorker(choice)).catch(() => undefined);

/** Only `up` replaces the page's gateway, which may be somebody's: what is sent through it may go on in plaintext. */
function tellOfGateway(options: GlobalOptions): void {
  const config = configOf(options);
  const gateway = config === undefined ? undefined : runningDetached(dataDirOf(options));
  if (gateway === undefined || gateway.config === config) return;
  const tell = noteUnless(options.json);
  tell(
    `the page and the API keep their previous configuration: \`holdfast up${sameServer(options)}\` gives them this one`,
  );
}

async function embeddedServer(
  dataDir: string,
  {
    start,
    port,
    uiPort,
    workdir,
    config,
    progress,
  }: OpenOptions & { config?: string | null | undefined; progress: (line: string) => void },
): Promise<EngineRecord> {
  const running = await runningServer(dataDir);
  const isAsWanted =
    port === undefined && uiPort === undefined && (!start || (running && isGuarded(running)));
  if (running && isAsWanted) return running;
  if (!start) {
    const silent = await findSilentServer(dataDir);
    if (silent) throw silent;
    throw new HoldfastError('no_server', {
      address: 'the embedded server',
      reason: `none runs on ${dataDir}`,
    });
  }
  return ensureServer({
    dataDir,
    cacheDir: defaultCacheDir(process.env),
    env: engineEnvironment({ dataDir, workdir, config }),
    progress,
    ...(port !== undefined && { port }),
    ...(uiPort !== undefined && { uiPort }),
  });
}
