// Where the host's worker takes connections for files from this machine: a unix socket that only this user can reach.
// The first line says what is wanted; frames follow.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { HoldfastError, reasonOf } from '../../../contracts/errors/holdfast-error';
import { checkedId } from '../../../contracts/ids';
import { readLine } from '../../attach/read-line';
import { tryLock } from '../../../system/lock';
import { KeptSocket } from '../../kept-socket';
import { socketPathFor } from '../../session-paths';
import { Strangers } from '../../strangers';
import type { FilesHost } from './files-host';

const INTRODUCTION_MS = 5_000;
const MAX_STRANGERS = 32;
const HERE = 'this machine';
const LOOK_EVERY_MS = 1_000;

export const filesSocket = (dataDir: string, host: string): string =>
  socketPathFor(dataDir, join(dataDir, `files.${checkedId('host', host)}`));

export class FilesDoor {
  private socket: KeptSocket | undefined;
  private look: NodeJS.Timeout | undefined;
  private readonly strangers = new Strangers({ max: MAX_STRANGERS, identifyWithinMs: INTRODUCTION_MS });
  private readonly sockets = new Set<Socket>();

  constructor(private readonly options: { dataDir: string; host: string; files: FilesHost }) {}

  /** Removes the sockets of killed workers. */
  static removeLeftOver(dataDir: string): void {
    if (!existsSync(dataDir)) return;
    for (const name of readdirSync(dataDir)) {
      const [, host] = /^worker\.([a-z0-9][a-z0-9_-]*)\.lock$/.exec(name) ?? [];
      const release = host === undefined ? undefined : tryLock(join(dataDir, name));
      if (host !== undefined && release) removeIfPossible(filesSocket(dataDir, host));
      release?.();
    }
  }

  /** Throws `listen_failed`. */
  async open(): Promise<void> {
    const { dataDir, host } = this.options;
    const socket = new KeptSocket(filesSocket(dataDir, host), (client) => void this.welcome(client));
    this.socket = socket;
    await new Promise<void>((resolve, reject) =>
      socket.listen(resolve, (err) =>
        reject(new HoldfastError('listen_failed', { host, reason: reasonOf(err) })),
      ),
    );
    this.look = setInterval(() => socket.keep(), LOOK_EVERY_MS).unref();
  }

  close(): void {
    clearInterval(this.look);
    this.socket?.close();
    this.strangers.end();
    for (const socket of this.sockets) socket.destroy();
  }

  private async welcome(socket: Socket): Promise<void> {
    const { files, host } = this.options;
    socket.on('error', () => socket.destroy());
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    this.strangers.admit(socket, socket);
    try {
      const said = await readLine(socket, INTRODUCTION_MS);
      this.strangers.know(socket);
      const asked = files.admit(said, HERE);
      socket.write(`${JSON.stringify({ ok: true })}\n`);
      files.serve(socket, asked);
      socket.resume();
    } catch (err) {
      const reason = reasonOf(err);
      const known =
        err instanceof HoldfastError ? err : new HoldfastError('attach_refused', { host, reason });
      const { code, facts } = known;
      socket.end(`${JSON.stringify({ error: { code, facts } })}\n`, () => socket.destroySoon());
    }
  }
}

/** Otherwise the next worker of the host does. */
function removeIfPossible(socket: string): void {
  try {
    rmSync(socket, { force: true });
  } catch {
    // The folder may not be changed.
  }
}
