// Targets of sandbox probes: files, servers and a process of the host, and which were reached.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '../../../../system/processes/proc';

type Place = 'port' | 'private' | 'shown' | 'abstract';

/** Everyone may write all of it: only the sandbox keeps a probe out. */
export class Outside {
  readonly node = process.execPath;
  readonly secret = `secret-${process.pid}`;
  readonly folder: string;
  readonly home: string;
  readonly canary: { file: string; text: string };
  readonly sockets: { private: string; shown: string; abstract: string };
  port = 0;
  private readonly root: string;
  private readonly servers: Server[] = [];
  private readonly reached = new Set<Place>();
  private process: ChildProcess | undefined;

  /** @param user whose the process is that is aimed at */
  constructor(private readonly user: { uid: number; gid: number } | undefined) {
    this.root = mkdtempSync(join(tmpdir(), 'holdfast-escape-'));
    chmodSync(this.root, 0o755);
    this.folder = this.open('host');
    this.home = this.open('home');
    this.canary = { file: join(this.open('home', '.ssh'), 'id_test'), text: `canary-${process.pid}` };
    writeFileSync(this.canary.file, this.canary.text);
    chmodSync(this.canary.file, 0o666);
    writeFileSync(join(this.folder, 'file'), 'as it was\n');
    chmodSync(join(this.folder, 'file'), 0o666);
    copyFileSync('/usr/bin/id', join(this.folder, 'id'));
    chmodSync(join(this.folder, 'id'), 0o4755);
    const name = `holdfast-escape-${process.pid}-${user?.uid ?? 'own'}`;
    const shown = join(this.folder, 'shown.sock');
    this.sockets = { private: join(tmpdir(), `${name}.sock`), shown, abstract: name };
  }

  async listen(): Promise<void> {
    await this.serve('private', this.sockets.private);
    await this.serve('shown', this.sockets.shown);
    await this.serve('abstract', `\0${this.sockets.abstract}`);
    const server = await this.serve('port', 0);
    this.port = (server.address() as AddressInfo).port;
  }

  /** Whether anyone has connected since the last call. */
  readonly met = (place: Place): boolean => this.reached.delete(place);

  /** Makes sure that the process is there. */
  prepare(): void {
    if (isRunning(this.pid)) return;
    this.process = spawn('sleep', ['600'], { ...this.user, env: { SECRET: this.secret }, stdio: 'ignore' });
  }

  /** A process with the secret in its environment. */
  get pid(): number {
    return this.process?.pid ?? 0;
  }

  async end(): Promise<void> {
    this.process?.kill('SIGKILL');
    for (const server of this.servers) {
      server.close();
      await once(server, 'close');
    }
    rmSync(this.root, { recursive: true, force: true });
  }

  /** Settings that show the folder: temporary folders and homes are hidden anyway. */
  get shown(): { readable: string[] } {
    return { readable: [this.folder] };
  }

  private open(...names: string[]): string {
    const folder = join(this.root, ...names);
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    return folder;
  }

  private async serve(place: Place, where: string | number): Promise<Server> {
    const server = createServer((socket) => {
      this.reached.add(place);
      socket.on('error', () => undefined).end();
    });
    server.listen(typeof where === 'number' ? { port: where, host: '127.0.0.1' } : { path: where });
    await once(server, 'listening');
    if (typeof where === 'string' && !where.startsWith('\0')) chmodSync(where, 0o777);
    this.servers.push(server);
    return server;
  }
}
