// Where a session keeps its files. Only checked ids become part of these paths.
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkedId, checkedSession, ID_PATTERN, type SessionRef } from '../contracts/ids';
import { makeFolder } from '../system/make-folder';

/** The kernel keeps 108 bytes for the path of a unix socket (unix(7)), macOS 104. */
const MAX_SOCKET_PATH = 100;

export interface SessionPaths {
  directory: string;
  /** All output of the session over all epochs, appended only: offsets are positions in this file. */
  log: string;
  /** Which holder owns the session, and how to reach it. */
  holder: string;
  /** The holder's process: shows that it lives while its record is missing. */
  process: string;
  config: string;
  holderLog: string;
  commands: string;
  epoch: string;
  /** How to find the current shell's processes if the holder does not answer. */
  tree: string;
  /** Ids of the resets that the host itself has carried out. */
  resets: string;
}

export const sessionsDirectory = (dataDir: string): string => join(dataDir, 'sessions');

export function sessionPaths(dataDir: string, ref: SessionRef): SessionPaths {
  const name = `${checkedId('agent', ref.agent)}.${checkedId('host', ref.host)}.${checkedSession(ref.session)}`;
  const directory = join(sessionsDirectory(dataDir), name);
  return {
    directory,
    log: join(directory, 'log'),
    holder: join(directory, 'holder.json'),
    process: join(directory, 'process.json'),
    config: join(directory, 'config.json'),
    holderLog: join(directory, 'holder.log'),
    commands: join(directory, 'commands'),
    epoch: join(directory, 'epoch'),
    tree: join(directory, 'tree.json'),
    resets: join(directory, 'resets.json'),
  };
}

/** The session that a folder of `sessionsDirectory` belongs to; undefined for a stray one, such as a copy. */
export function parseSessionDirectory(name: string): SessionRef | undefined {
  const [agent = '', host = '', session = '', ...more] = name.split('.');
  const isOurs = [agent, host].every((id) => ID_PATTERN.test(id)) && /^(?:0|[1-9]\d{0,5})$/.test(session);
  return isOurs && more.length === 0 ? { agent, host, session: Number(session) } : undefined;
}

/** All sessions that have a folder here. */
export function listSessions(dataDir: string): SessionRef[] {
  const directory = sessionsDirectory(dataDir);
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .map(parseSessionDirectory)
    .filter((ref) => ref !== undefined);
}

/** A short path for the session's socket, in a folder that only this user may enter. */
export function socketPathFor(dataDir: string, directory: string): string {
  const name = `${createHash('sha256').update(directory).digest('hex').slice(0, 24)}.sock`;
  const beside = join(dataDir, 'sockets', name);
  if (Buffer.byteLength(beside) <= MAX_SOCKET_PATH)
    return join(privateFolder(join(dataDir, 'sockets')), name);
  return join(privateFolder(join(tmpdir(), `holdfast-${process.getuid?.() ?? 'user'}`)), name);
}

/** Creates it if missing. Throws if others could access it. */
export function privateFolder(path: string): string {
  makeFolder(path);
  const stat = lstatSync(path);
  // In a shared folder somebody else could have created it first, to listen in.
  if (!stat.isDirectory() || (process.getuid && stat.uid !== process.getuid()) || stat.mode & 0o077) {
    throw new Error(`${path} is not private to this user (owner and mode 0700 expected)`);
  }
  return path;
}
