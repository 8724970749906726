// The client of a host's files: a channel to a process there, over the host's socket on this machine or over TLS to a
// host that listens. Knows nothing about Temporal.
import { createConnection, type Socket } from 'node:net';
import { HoldfastError, type ErrorFacts } from '../../../contracts/errors/holdfast-error';
import { errorFrom, connectToHost, type HostAddress } from '../../attach/remote-connection';
import { readLine } from '../../attach/read-line';
import { HolderGone } from '../../client/holder-client';
import { Channel, ChannelLost } from '../channel';
import { filesSocket } from './files-door';
import type { FilesIntroduction } from './files-host';

const ANSWER_MS = 10_000;

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
  const socket = await new Promise<Socket>((resolve, reject) => {
    const socket = createConnection(filesSocket(dataDir, asked.host));
    socket.once('error', () => reject(new HolderGone('its worker does not run on this machine')));
    socket.once('connect', () => resolve(socket));
  });
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
