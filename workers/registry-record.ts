// The worker's tools, written into the data folder for the command line: MCP servers live in the worker alone.
import { join } from 'node:path';
import { reasonOf } from '../contracts/errors';
import type { RegistryRecord } from '../contracts/registry-record';
import { readJson, removeQuietly, writeJson } from '../exec/json-file';
import { identityOf, isAlive, type Identity } from '../exec/process-identity';
import type { ToolRegistry } from '../tools/registry';
import type { ConfiguredTools } from './configured-tools';
import type { WorkersLog } from './workers';

interface PublishedRegistry extends RegistryRecord {
  worker: Identity;
}

const recordPath = (dataDir: string): string => join(dataDir, 'registry.json');

/** Writes the tools now and after each change; returns the function that takes the record away. */
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
      // It is for people to look at; agents call their tools without it.
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

/** What the data folder's living worker says; undefined where none lives. */
export function publishedRegistry(dataDir: string): RegistryRecord | undefined {
  const record = readJson<PublishedRegistry>(recordPath(dataDir));
  return record && isAlive(record.worker) ? record : undefined;
}
