// The data folder's running gateway: where it is, for `holdfast ui`.
import { join } from 'node:path';
import { readJson, removeQuietly, writeJson } from '../system/json-file';
import { identityOf, isAlive, type Identity } from '../system/process-identity';

export interface GatewayRecord {
  identity: Identity;
  url: string;
}

const recordPath = (dataDir: string): string => join(dataDir, 'gateway', 'gateway.json');

/** Of several gateways the last one that started; returns the function that removes the record, if it is still ours. */
export function recordGateway(dataDir: string, url: string): () => void {
  const identity = identityOf(process.pid);
  writeJson(recordPath(dataDir), { identity, url } satisfies GatewayRecord);
  return () => {
    if (runningGateway(dataDir)?.identity.pid === process.pid) removeQuietly(recordPath(dataDir));
  };
}

/** Undefined if none runs. */
export function runningGateway(dataDir: string): GatewayRecord | undefined {
  const record = readJson<GatewayRecord>(recordPath(dataDir));
  return record && isAlive(record.identity) ? record : undefined;
}

/** A link to the page that logs in: the token is in the fragment, which no server sees and no log has. */
export const loginLink = (url: string, token: string): string => `${url}/#token=${token}`;
