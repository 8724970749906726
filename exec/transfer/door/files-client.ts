// The client of a host's files: a channel to a process there, over the host's socket on this machine or over TLS to a
// host that listens. Knows nothing about Temporal.
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError, type ErrorFacts } from '../../../contracts/errors/holdfast-error';
import { LOCAL_HOST } from '../../../contracts/ids';
import { isHeld } from '../../../system/lock';
import { errorFrom, connectToHost, type HostAddress } from '../../attach/remote-connection';
import { readLine } from '../../attach/read-line';
import { HolderGone } from '../../client/holder-client';
import { Channel, ChannelLost } from '../channel';
import { filesSocket } from './files-door';
import type { FilesIntroduction } from './files-host';

const ANSWER_MS = 10_000;
/** A worker that starts, or whose socket was removed, takes connections within a moment. */
const START_MS = 10_000;
const RETRY_MS = 50;

/** Where a host's files are reached: by the data folder that serves it here, or at its address. */
export type FilesAddress = { dataDir: string } | HostAddress;

/** Throws `files_unreachable`, `attach_refused`, and what the host refuses it with. */
export async function openFiles(at: FilesAddress, asked: FilesIntroduction): Promise<Channel> {
  const { host } = asked;
  try {
    const socket =
      'dataDir' in at ? await connectHere(at.dataDir, asked) : await connectToHost(at, { files: asked });
    return new Channel(socket, socket);
  } catch (err) {
    if (!(err instanceof HolderGone)) throw err;
    const next =
      'dataDir' in at ? 'Start its worker (`holdfast up`, or `holdfast host serve NAME`).' : undefined;
    throw new HoldfastError('files_unreachable', {
      host,
      reason: err.message,
      ...(next !== undefined && { next }),
    });
  }
}

/** The error for a connection that was lost: what is behind it is the same for all who copy. */
export const interrupted = (err: unknown, facts: { host: string; next?: string }): unknown =>
  err instanceof ChannelLost
    ? new HoldfastError('transfer_interrupted', { ...facts, reason: err.message })
    : err;

async function connectHere(dataDir: string, asked: FilesIntroduction): Promise<Socket> {
  const { host } = asked;
  const lastTry = performance.now() + START_MS;
  let socket = await socketOf(dataDir, host);
  while (!socket) {
    if (!isServed(dataDir, host)) throw new HolderGone('its worker does not run on this machine');
    if (performance.now() > lastTry)
      throw new HolderGone('its worker starts or stops and takes no connections yet');
    await delay(RETRY_MS);
    socket = await socketOf(dataDir, host);
  }
  socket.removeAllListeners('error').on('error', () => socket.destroy());
  try {
    socket.write(`${JSON.stringify(asked)}\n`);
    const answer = ((await readLine(socket, ANSWER_MS)) ?? {}) as {
      error?: { code?: unknown; facts?: ErrorFacts };
    };
    if (answer.error) throw errorFrom(answer.error, asked.host);
    return socket;
  } catch (err) {
    socket.destroy();
    throw err;
  }
}

/** Undefined where nothing listens. */
const socketOf = (dataDir: string, host: string): Promise<Socket | undefined> =>
  new Promise((resolve) => {
    const socket = createConnection(filesSocket(dataDir, host));
    socket.once('error', () => resolve(undefined));
    socket.once('connect', () => resolve(socket));
  });

/** Whether a worker of the host runs, or is just being started: the locks of both. */
const isServed = (dataDir: string, host: string): boolean =>
  [`worker.${host}.lock`, ...(host === LOCAL_HOST ? ['worker.lock'] : [])].some((name) =>
    isHeld(join(dataDir, name)),
  );
