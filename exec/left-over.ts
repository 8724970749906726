// What processes leave behind that were killed: it holds nothing any more, and looks as if it did.
import { existsSync } from 'node:fs';
import { createConnection } from 'node:net';
import type { HolderRecord } from './holder-client';
import { readJson, removeQuietly } from './json-file';
import { isAlive } from './process-identity';
import type { SessionPaths } from './session-paths';

/** Removes the record and the socket of a session's holder, where that is dead and they can be removed. */
export async function removeDeadHolder({ holder, config }: SessionPaths): Promise<void> {
  const record = readJson<HolderRecord>(holder);
  if (record && isAlive(record.identity)) return;
  // It may have died before it wrote a record.
  const socketPath = (record ?? readJson<Pick<HolderRecord, 'socketPath'>>(config))?.socketPath;
  // One that is just starting listens before it says so.
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
