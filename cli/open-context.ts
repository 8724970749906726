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
import { reportIfSlow, reportWait } from './waiting/report-if-slow';
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

/** Where a command works, and with what. */
interface Place {
  dataDir: string;
  /** Undefined: a server that the user named. */
  engine: EngineRecord | undefined;
  server: ReturnType<typeof resolveServer>;
  /** For a worker; undefined: as before. */
  workersConfig: ReturnType<typeof configOf>;
  progress: (line: string) => void;
}

/** @param opened gets what must be closed, each as soon as it is open */
async function partsOf(
  options: GlobalOptions,
  open: OpenOptions,
  opened: Closing[],
): Promise<Omit<CliContext, keyof AsyncDisposable>> {
  const place = await placeOf(options, open);
  const { dataDir, engine } = place;
  const { address, namespace } = place.server;
  const watch = { json: options.json ?? false, stay: open.staysOnFullDisk ?? false };
  if (engine) opened.push(watchDisk(dataDir, watch));
  const keepsWorker =
    engine !== undefined &&
    (open.start || (open.restarts === true && hadWorker(dataDir, { address, namespace })));
  const { temporal, worker } = await connected(place, { options, open, opened, keepsWorker });
  const { answersOthers } = open;
  const kept = keepsWorker
    ? keepRunning(dataDir, restartsOf(place, options), { ...options, answersOthers })
    : undefined;
  if (kept) opened.push(kept.stop);
  const client = new HoldfastClient(temporal, address, {
    queue: worker?.queue ?? recordedQueue(dataDir) ?? MAIN_TASK_QUEUE,
    keepsWorker,
    patienceMs: patienceOf(place, open),
    onDelay: reportWait,
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

async function placeOf(options: GlobalOptions, open: OpenOptions): Promise<Place> {
  const dataDir = dataDirOf(options);
  if (open.start && !open.staysStopped) rmSync(stopMarker(dataDir), { force: true });
  const server = resolveServer(options, process.env);
  const progress = noteUnless(options.json);
  const workersConfig = open.ownConfig && lastWorker(dataDir) ? undefined : configOf(options);
  const engine = server.isConfigured
    ? undefined
    : await embeddedServer(dataDir, { ...open, config: workersConfig, progress });
  const address = engine?.address ?? server.address;
  return { dataDir, engine, server: { ...server, address }, workersConfig, progress };
}

/** The embedded server's process reports more, and sooner. */
const patienceOf = ({ engine }: Place, { patienceMs = engine ? undefined : PATIENCE_MS }: OpenOptions) =>
  patienceMs;

interface Connecting {
  options: GlobalOptions;
  open: OpenOptions;
  opened: Closing[];
  keepsWorker: boolean;
}

async function connected(
  place: Place,
  { options, open, opened, keepsWorker }: Connecting,
): Promise<{ temporal: Client; worker: WorkerRecord | undefined }> {
  const { dataDir, engine, progress } = place;
  const before = runningWorker(dataDir);
  const configured = (): string | null => chosenConfig(dataDir, configOf(options));
  const config = configured();
  let temporal = await connectTo(place, options, open);
  opened.push(() => temporal.connection.close());
  const asBefore = workerAsBefore(place, options);
  if (!(engine ? open.start : open.startWorker)) {
    const worker = runningWorker(dataDir) ?? (keepsWorker ? await restarted(asBefore) : undefined);
    return { temporal, worker };
  }
  const worker = await reportIfSlow(
    'the worker to start',
    ensureWorker({ ...asBefore, ...wanted(place, open) }),
  );
  // Another command has started this worker meanwhile, with another configuration, which may encrypt.
  if (configured() !== config) {
    await temporal.connection.close();
    temporal = await connectTo(place, options, open);
  }
  if (!open.thisRelease) {
    reportWorker(before, worker, progress);
    reportGateway(options);
  }
  return { temporal, worker };
}

function connectTo(place: Place, options: GlobalOptions, open: OpenOptions): Promise<Client> {
  const { dataDir, server } = place;
  const { encryption, startsTraces } = readClientSettings(dataDir, configOf(options));
  const connecting = connectTemporal(server, {
    dataConverter: encryptedPayloads(encryption),
    patienceMs: patienceOf(place, open),
    startsTraces,
  });
  return reportIfSlow(`the Temporal server at ${server.address}`, connecting);
}

/** What is recorded counts: another command may have chosen differently since. */
const workerAsBefore = ({ dataDir, server }: Place, options: GlobalOptions): WorkerChoice => ({
  dataDir,
  address: server.address,
  namespace: server.namespace,
  profile: options.profile,
  onKept: options.json
    ? undefined
    : ({ identity }: WorkerRecord): void =>
        note(`the previous worker (pid ${identity.pid}) keeps running as it was`),
  env: process.env,
});

const wanted = ({ workersConfig }: Place, open: OpenOptions): Partial<WorkerChoice> => ({
  workdir: open.workdir,
  tools: open.tools,
  config: workersConfig,
  host: open.host,
  queue: open.queue,
  join: open.join,
  replace: open.replace,
  thisRelease: open.thisRelease,
});

const restartsOf = (place: Place, options: GlobalOptions): Parameters<typeof keepRunning>[1] => {
  const { dataDir, server, progress } = place;
  const asBefore = workerAsBefore(place, options);
  return {
    server: async () => {
      const next = await embeddedServer(dataDir, { start: true, progress });
      if (next.address === server.address) return;
      await ensureWorker({ ...asBefore, address: next.address });
      throw new HoldfastError('engine_moved', { got: next.address, before: server.address });
    },
    worker: () => ensureWorker(asBefore),
  };
};

/** A worker has one configuration, and all agents with it. */
function reportWorker(
  before: WorkerRecord | undefined,
  worker: WorkerRecord | undefined,
  report: (line: string) => void,
): void {
  if (!before || !worker || before.config === worker.config) return;
  const [had, has] = [before, worker].map(({ config }) => inertLine(config ?? 'that of the data folder'));
  report(`the worker was started again with the configuration ${has}, for all agents; it had ${had}`);
}

/** Whether a worker of this place was started in the data folder, and no `down` has ended it since. */
function hadWorker(dataDir: string, place: { address: string; namespace: string }): boolean {
  const last = lastWorker(dataDir);
  return last !== undefined && isOf(last, place) && !existsSync(stopMarker(dataDir));
}

/** Undefined if it cannot be: while the command waits, that is tried again, and reported. */
const restarted = (choice: WorkerChoice): Promise<WorkerRecord | undefined> =>
  reportIfSlow('the worker to start', ensureWorker(choice)).catch(() => undefined);

/** Only `up` replaces the page's gateway, which may be somebody's: what is sent through it may go on in plaintext. */
function reportGateway(options: GlobalOptions): void {
  const config = configOf(options);
  const gateway = config === undefined ? undefined : runningDetached(dataDirOf(options));
  if (gateway === undefined || gateway.config === config) return;
  const report = noteUnless(options.json);
  report(
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
