// What every command is given: the data folder, the server, the configuration. Loads no client of Temporal.
import { resolve } from 'node:path';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { LOCAL_HOST } from '../contracts/ids';
import { defaultDataDir, findInTheWay } from '../system/data-dir';
import { recordedHost } from '../workers/configuration/recorded-choice';
import { isOf, lastWorker } from '../workers/process/worker-record';
import { ownHostName } from './own-host-name';

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

/** Throws `invalid_input` for a path at which there is, or leads through, something that is no folder. */
export function dataDirOf(options: GlobalOptions): string {
  const dataDir = options.data ? resolve(options.data) : defaultDataDir(process.env);
  const inTheWay = findInTheWay(dataDir);
  if (inTheWay === undefined) return dataDir;
  throw new HoldfastError('invalid_input', {
    what: 'The data folder',
    got: inTheWay === dataDir ? `${dataDir}, which is no folder` : `${dataDir}, but ${inTheWay} is no folder`,
    allowed: 'a folder, or a path where nothing is yet',
    next: 'Name another one with --data or HOLDFAST_DATA; nothing was started.',
  });
}

/** Flag over environment; null to go back to the default, undefined if not given. */
export function configOf({ config }: GlobalOptions): string | null | undefined {
  if (config === false) return null;
  const named = config ?? process.env.HOLDFAST_CONFIG;
  return named ? resolve(named) : undefined;
}

/** The host of the data folder: `local` beside the embedded server, else the one that its worker serves. */
export async function ownHost(options: GlobalOptions): Promise<string> {
  const { resolveServer } = await import('../client/connect');
  const server = resolveServer(options, process.env);
  if (!server.isConfigured) return LOCAL_HOST;
  const dataDir = dataDirOf(options);
  const worker = lastWorker(dataDir);
  const served = worker && isOf(worker, server) ? worker.host : undefined;
  return served ?? recordedHost(dataDir) ?? ownHostName();
}
