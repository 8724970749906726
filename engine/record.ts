// The record of a data folder's server: its identity and addresses. Written before the server runs, so that no server
// exists without a record.
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../system/make-folder';
import type { Identity } from '../system/processes/process-identity';
import { readProcessRecord, writeProcessRecord } from '../system/processes/process-record';
import type { EnginePorts, HiddenPorts } from './ports';

/** A server that we started; stored as `engine/server.json` in its data folder. */
export interface EngineRecord extends EnginePorts, HiddenPorts {
  /** Address of the gRPC port in the form that clients use: host:port. */
  address: string;
  namespace: 'default';
  /** URL of the guard, without a path. */
  uiUrl: string;
  identity: Identity;
  /** The guard of the web UI. */
  guard: Identity;
  dbFile: string;
  logFile: string;
  /** Path of the executable. */
  binary: string;
  /** ISO 8601. */
  startedAt: string;
}

/** The files of a data folder's server. */
export interface EnginePaths {
  folder: string;
  lock: string;
  /** Its guard holds this lock, and lives as long as the server: also where its processes cannot be seen. */
  running: string;
  record: string;
  dbFile: string;
  logFile: string;
  /** The header that the guard of the web UI requires. */
  uiAuthorization: string;
}

export function enginePaths(dataDir: string): EnginePaths {
  const folder = join(dataDir, 'engine');
  return {
    folder,
    lock: join(folder, 'lock'),
    running: join(folder, 'running.lock'),
    record: join(folder, 'server.json'),
    dbFile: join(folder, 'temporal.db'),
    logFile: join(folder, 'server.log'),
    uiAuthorization: join(folder, 'ui-authorization'),
  };
}

/** Creates the folder, closed to other users: the database holds conversations. */
export function createEngineFolder({ folder }: EnginePaths): void {
  makeFolder(folder);
  chmodSync(folder, 0o700);
}

/** Reads the record of a running or dead server; undefined if there is none. */
export function readRecord(paths: EnginePaths): EngineRecord | undefined {
  return readProcessRecord<EngineRecord>(paths.record);
}

/** Whether a server is the one of this data folder, which is this machine's alone, and keeps its database. */
export const isEmbeddedServer = (dataDir: string, address: string): boolean =>
  readRecord(enginePaths(dataDir))?.address === address;

export function writeRecord(paths: EnginePaths, record: EngineRecord): void {
  writeProcessRecord(paths.record, record);
}
