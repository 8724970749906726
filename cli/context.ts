// What every command starts from: where the data lie, which server is meant, and a client for it.
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { connectTemporal, resolveServer } from '../client/connect';
import { HoldfastClient } from '../client/holdfast-client';
import { HoldfastError } from '../contracts/errors';
import { LOCAL_HOST } from '../contracts/ids';
import { encryptedPayloads } from '../encryption/data-converter';
import { defaultCacheDir, defaultDataDir } from '../engine/data-dir';
import { ensureServer, isGuarded, runningServer, uiLink, type EngineRecord } from '../engine/server';
import { readEncryption } from '../workers/read-encryption';
import { ensureWorker, runningWorker } from '../workers/worker-process';
import type { WorkerRecord } from '../workers/worker-record';
import { keepRunning, stopMarker } from './keep-running';
import { note } from './terminal-style';

export interface GlobalOptions {
  data?: string;
  address?: string;
  namespace?: string;
  profile?: string;
  /** A `holdfast.toml`; false for `--no-config`. */
  config?: string | false;
  json?: boolean;
}

export interface SessionOptions extends GlobalOptions {
  agent: string;
  host: string;
  session: number;
}

/** To be opened with `await using`: it watches over the server and the worker as long as it lives. */
export interface CliContext extends AsyncDisposable {
  client: HoldfastClient;
  dataDir: string;
  namespace: string;
  /** Temporal's web UI, where it is ours; it answers browsers that were let in. */
  uiUrl: string | null;
  /** A link that lets a browser in, to a path of the web UI; for people only, because the token is in it. */
  uiLink: (path?: string) => string | null;
  worker: WorkerRecord | undefined;
}

export const dataDirOf = (options: GlobalOptions): string =>
  options.data ? resolve(options.data) : defaultDataDir(process.env);

/** Flag over environment; null where none is wanted any more, undefined where nobody says. */
export function configOf({ config }: GlobalOptions): string | null | undefined {
  if (config === false) return null;
  const named = config ?? process.env.HOLDFAST_CONFIG;
  return named ? resolve(named) : undefined;
}

export interface OpenOptions {
  /** Starts the embedded server and its worker where no server is named and none runs. */
  start: boolean;
  /** Also starts a worker for a server that was named. */
  startWorker?: boolean;
  port?: number | undefined;
  uiPort?: number | undefined;
  /** By absolute path; null: the usual one again. */
  workdir?: string | null | undefined;
  /** Modules of own tools, by absolute path; default: as before. */
  tools?: string[] | undefined;
}

/** Throws `no_server` when nothing is named, nothing runs and nothing may be started. */
export async function openContext(options: GlobalOptions, open: OpenOptions): Promise<CliContext> {
  const dataDir = dataDirOf(options);
  if (open.start) rmSync(stopMarker(dataDir), { force: true });
  const server = resolveServer(options, process.env);
  const engine = server.isConfigured ? undefined : await embeddedServer(dataDir, open);
  const address = engine?.address ?? server.address;
  const { namespace } = server;
  const encryption = encryptedPayloads(readEncryption(dataDir, configOf(options)));
  const temporal = await connectTemporal({ ...server, address }, encryption);
  const startsWorker = engine ? open.start : open.startWorker;
  const choice = {
    dataDir,
    address,
    namespace,
    profile: options.profile,
    workdir: open.workdir,
    tools: open.tools,
    config: configOf(options),
    env: process.env,
  };
  const worker = startsWorker ? await ensureWorker(choice) : runningWorker(dataDir);
  const restart = {
    server: async () => {
      const next = await embeddedServer(dataDir, { start: true });
      if (next.address === address) return;
      await ensureWorker({ ...choice, address: next.address });
      throw new HoldfastError('engine_moved', { got: next.address, before: address });
    },
    worker: () => ensureWorker(choice),
  };
  const stopWatching = engine && open.start ? keepRunning(dataDir, restart) : (): void => undefined;
  const client = new HoldfastClient(temporal, address);
  const close = (): Promise<void> => {
    stopWatching();
    return client.close();
  };
  return {
    client,
    dataDir,
    namespace,
    uiUrl: engine?.uiUrl ?? null,
    uiLink: (path) => (engine ? uiLink(dataDir, engine, path) : null),
    worker,
    [Symbol.asyncDispose]: close,
  };
}

async function embeddedServer(dataDir: string, { start, port, uiPort }: OpenOptions): Promise<EngineRecord> {
  const running = await runningServer(dataDir);
  const isAsWanted =
    port === undefined && uiPort === undefined && (!start || (running && isGuarded(running)));
  if (running && isAsWanted) return running;
  if (!start) {
    throw new HoldfastError('no_server', {
      address: 'the embedded server',
      reason: `none runs on ${dataDir}`,
    });
  }
  return ensureServer({
    dataDir,
    cacheDir: defaultCacheDir(process.env),
    env: process.env,
    progress: note,
    ...(port !== undefined && { port }),
    ...(uiPort !== undefined && { uiPort }),
  });
}

const workflowPath = ({ namespace }: CliContext, workflowId: string): string =>
  `/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`;

/** Link to a workflow in Temporal's web UI, which lets a browser in: for people. */
export const workflowLink = (context: CliContext, workflowId: string): string | null =>
  context.uiLink(workflowPath(context, workflowId));

/** The same without the token: for models and records. */
export const workflowAddress = (context: CliContext, workflowId: string): string | null =>
  context.uiUrl && context.uiUrl + workflowPath(context, workflowId);

/**
 * Whether this machine holds the shells that are spoken of: then the log can be read directly. The embedded server
 * is this data folder's own, also while its worker is dead.
 */
export const isLocal = (context: CliContext, host: string): boolean =>
  host === LOCAL_HOST && (context.uiUrl !== null || context.worker?.address === context.client.address);
