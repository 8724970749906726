// Where the host's worker takes connections for files from this machine: a unix socket that only this user can reach.
// The first line says what is wanted; frames follow.
import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { HoldfastError, reasonOf } from '../../../contracts/errors/holdfast-error';
import { checkedId } from '../../../contracts/ids';
import { readLine } from '../../attach/read-line';
import { tryLock } from '../../../system/lock';
import { socketPathFor } from '../../session-paths';
import { Strangers } from '../../strangers';
import type { FilesHost } from './files-host';

const INTRODUCTION_MS = 5_000;
const MAX_STRANGERS = 32;
const HERE = 'this machine';

export const filesSocket = (dataDir: string, host: string): string =>
  socketPathFor(dataDir, join(dataDir, `files.${checkedId('host', host)}`));

export class FilesDoor {
  private server: Server | undefined;
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
    const path = filesSocket(dataDir, host);
    // Of an earlier worker: this one has the host.
    rmSync(path, { force: true });
    const server = createServer((socket) => void this.welcome(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', (err) =>
        reject(new HoldfastError('listen_failed', { host, reason: reasonOf(err) })),
      );
      server.listen(path, resolve);
    });
    chmodSync(path, 0o600);
    this.server = server;
  }

  close(): void {
    this.server?.close();
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
