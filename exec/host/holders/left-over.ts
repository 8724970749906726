// Cleans up after killed processes: leftovers that look as if they were still in use.
import { existsSync } from 'node:fs';
import { createConnection } from 'node:net';
import type { HolderRecord } from '../../client/holder-client';
import { readJson, removeQuietly } from '../../../system/json-file';
import { isAlive } from '../../../system/processes/process-identity';
import { readProcessRecord } from '../../../system/processes/process-record';
import type { SessionPaths } from '../../session-paths';

/** Removes the record and the socket of a session's holder, if it is dead and they can be removed. */
export async function removeDeadHolder({ holder, config }: SessionPaths): Promise<void> {
  const record = readProcessRecord<HolderRecord>(holder);
  if (record && isAlive(record.identity)) return;
  // It may have died before it wrote a record.
  const socketPath = (record ?? readJson<Pick<HolderRecord, 'socketPath'>>(config))?.socketPath;
  // A starting holder listens before it writes its record.
  if (socketPath === undefined || (await isListening(socketPath))) return;
  for (const path of [socketPath, holder]) removeQuietly(path);
}

function isListening(socketPath: string): Promise<boolean> {
  if (!existsSync(socketPath)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = createConnection(socketPath);
    const settle = (is: boolean) => (): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', settle(true)).once('error', settle(false));
  });
}
