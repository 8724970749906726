// The worker's tools, written to the data folder for the command line: only the worker knows its MCP servers.
import { join } from 'node:path';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import type { RegistryRecord } from '../../contracts/tools/registry-record';
import { readJson, removeQuietly, writeJson } from '../../system/json-file';
import { identityOf, isAlive, type Identity } from '../../system/processes/process-identity';
import type { ToolRegistry } from '../../tools/registry';
import type { ConfiguredTools } from './configured-tools';
import type { WorkersLog } from '../workers';

interface PublishedRegistry extends RegistryRecord {
  worker: Identity;
}

const recordPath = (dataDir: string): string => join(dataDir, 'registry.json');

/** Writes the tools now and after each change; returns the function that removes the record. */
export function publishRegistry(
  dataDir: string,
  registry: ToolRegistry,
  configured: ConfiguredTools,
  log: WorkersLog,
): () => void {
  const worker = identityOf(process.pid);
  const write = (): void => {
    const faults = [...configured.faults(), ...registry.faults()];
    const record = { worker, tools: registry.describe(), servers: configured.servers(), faults };
    try {
      writeJson(recordPath(dataDir), record satisfies PublishedRegistry);
    } catch (err) {
      // The list is for people; agents call their tools without it.
      log.warn('the list of tools could not be written', { reason: reasonOf(err) });
    }
  };
  write();
  const stop = registry.onChange(write);
  return () => {
    stop();
    removeQuietly(recordPath(dataDir));
  };
}

/** The record of the data folder's living worker; undefined if none is alive. */
export function publishedRegistry(dataDir: string): RegistryRecord | undefined {
  const record = readJson<PublishedRegistry>(recordPath(dataDir));
  return record && isAlive(record.worker) ? record : undefined;
}
