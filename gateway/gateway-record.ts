// The data folder's running gateways: where they are, for `holdfast ui`, and for `holdfast up`, which starts one of its own.
import { join } from 'node:path';
import { removeQuietly } from '../system/json-file';
import type { Release } from '../system/package-root';
import { identityOf, isAlive, type Identity } from '../system/processes/process-identity';
import { readProcessRecord, writeProcessRecord } from '../system/processes/process-record';

export interface GatewayRecord {
  identity: Identity;
  url: string;
  /** The Temporal server that it works with, and the namespace there. */
  address: string;
  namespace: string;
  /** Task queue of the agents that it starts. */
  queue: string;
  /** Where it was to listen, as it was given; null: it chose by itself. */
  listen: string | null;
  /** The named configuration; null: the data folder's. Absent, as the next one, in older records. */
  config?: string | null;
  /** The named profile of the Temporal configuration. */
  profile?: string | null;
  release: Release;
}

export const gatewayPaths = (
  dataDir: string,
): Record<'record' | 'detached' | 'started' | 'log' | 'lock', string> => ({
  /** The record of the last gateway that started, if there are several. */
  record: join(dataDir, 'gateway', 'gateway.json'),
  /** The one of `holdfast up`. */
  detached: join(dataDir, 'gateway', 'detached.json'),
  /** The same, ready or not. */
  started: join(dataDir, 'gateway', 'started.json'),
  log: join(dataDir, 'gateway', 'gateway.log'),
  lock: join(dataDir, 'gateway', 'gateway.lock'),
});

/** Records this process; returns the function that removes the record, if it is still ours. */
export function recordGateway(
  dataDir: string,
  facts: Omit<GatewayRecord, 'identity'>,
  isDetached: boolean,
): () => void {
  const { record, detached } = gatewayPaths(dataDir);
  const files = isDetached ? [detached, record] : [record];
  for (const file of files)
    writeProcessRecord(file, { identity: identityOf(process.pid), ...facts } satisfies GatewayRecord);
  return () => {
    // The detached one's stays: the next one takes the same port, so that the page's address is the same.
    if (living(record)?.identity.pid === process.pid) removeQuietly(record);
  };
}

/** The last one that started, or else the one of `holdfast up`; undefined if none runs. */
export const runningGateway = (dataDir: string): GatewayRecord | undefined =>
  living(gatewayPaths(dataDir).record) ?? runningDetached(dataDir);

/** The one of `holdfast up`, if it runs. */
export const runningDetached = (dataDir: string): GatewayRecord | undefined =>
  living(gatewayPaths(dataDir).detached);

/** The one of the last `holdfast up`, even if it has ended. */
export const lastDetached = (dataDir: string): GatewayRecord | undefined =>
  readProcessRecord<GatewayRecord>(gatewayPaths(dataDir).detached);

function living(path: string): GatewayRecord | undefined {
  const record = readProcessRecord<GatewayRecord>(path);
  return record && isAlive(record.identity) ? record : undefined;
}

/** Whether it answers; one that is frozen or out of memory exists, but does not. */
export async function gatewayAnswers(
  { url }: Pick<GatewayRecord, 'url'>,
  withinMs: number,
): Promise<boolean> {
  try {
    return (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(withinMs) })).ok;
  } catch {
    return false;
  }
}
