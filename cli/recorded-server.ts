// The server of a command that names none. Loaded by every command, so it loads no client of Temporal itself.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { LOCAL_HOST } from '../contracts/ids';
import { enginePaths, readRecord } from '../engine/record';
import { defaultDataDir } from '../system/data-dir';
import { stopMarker } from '../system/processes/stop-marker';
import { lastWorker } from '../workers/process/worker-record';
import type { GlobalOptions } from './global-options';

/** These say which server a data folder has. For all others it is that of its worker. */
const CHOOSES_SERVER: ReadonlySet<string> = new Set(['up', 'down', 'demo', 'worker', 'codec', 'host serve']);

const nameOf = (command: Command): string =>
  command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name();

/**
 * The server that the data folder's worker was started for by name: without it, a command would start an embedded one beside
 * it. Undefined for a command that names one, after a `down`, and where the embedded server is meant.
 */
export async function recordedServer(
  command: Command,
): Promise<{ address: string; namespace: string } | undefined> {
  const options = command.optsWithGlobals<GlobalOptions>();
  const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = process.env;
  if (CHOOSES_SERVER.has(nameOf(command)) || options.address !== undefined || TEMPORAL_ADDRESS)
    return undefined;
  const dataDir = options.data ? resolve(options.data) : defaultDataDir(process.env);
  const last = existsSync(stopMarker(dataDir)) ? undefined : lastWorker(dataDir);
  // Beside the embedded server a worker serves `local`, or agents alone.
  if (!last || last.host === LOCAL_HOST) return undefined;
  if (last.host === null && readRecord(enginePaths(dataDir))) return undefined;
  const { resolveServer } = await import('../client/connect');
  if (resolveServer(options, process.env).isConfigured) return undefined;
  return { address: last.address, namespace: options.namespace ?? TEMPORAL_NAMESPACE ?? last.namespace };
}
