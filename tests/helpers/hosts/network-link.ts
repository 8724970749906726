// A network of its own for a host: a namespace of the kernel, whose one cable leads to a second one, where a relay
// hands connections on to the server. A test pulls the cable and plugs it in. Needs root and iproute2.
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missingOf, pathOf } from '../run/programs';

const ip = (...args: string[]): unknown =>
  execFileSync(pathOf('ip'), args, { stdio: ['ignore', 'ignore', 'pipe'] });

const SERVER = '10.0.0.1';
const HOST = '10.0.0.2';
const PORT = 7233;
const RELAY = `const net = require('node:net');
net.createServer((one) => {
  const other = net.createConnection(process.argv[1]);
  for (const [a, b] of [[one, other], [other, one]]) a.pipe(b).on('error', () => a.destroy());
}).listen(${PORT}, '${SERVER}', () => console.log('ready'));`;

/** Why this machine cannot have one; undefined if it can. */
export function noNetworkLink(): string | undefined {
  const missing = missingOf('ip');
  if (missing !== undefined) return missing;
  const name = `holdfast-probe-${process.pid}`;
  if (spawnSync(pathOf('ip'), ['netns', 'add', name]).status !== 0)
    return 'no network namespaces: needs root';
  ip('netns', 'delete', name);
  return undefined;
}

export class NetworkLink {
  /** Where the server is found from in there. */
  readonly address = `${SERVER}:${PORT}`;
  private readonly host: string;
  private readonly server: string;
  private readonly directory = mkdtempSync(join(tmpdir(), 'holdfast-link-'));
  private readonly sockets = new Set<Socket>();
  private listening: Server | undefined;
  private relay: ChildProcess | undefined;

  /** @param name distinguishes several of a test file */
  constructor(name = 'one') {
    this.host = `holdfast-${name}-${process.pid}`;
    this.server = `holdfast-server-of-${name}-${process.pid}`;
  }

  /** Processes in there. */
  get pids(): number[] {
    const listed = execFileSync(pathOf('ip'), ['netns', 'pids', this.host], { encoding: 'utf8' });
    return listed.split('\n').filter(Boolean).map(Number);
  }

  /** The command prefix that starts a program in there. */
  get before(): readonly string[] {
    return [pathOf('ip'), 'netns', 'exec', this.host];
  }

  /** @param port where the server listens on the loopback of this machine */
  async open(port: number): Promise<void> {
    const { host, server } = this;
    for (const name of [host, server]) ip('netns', 'add', name);
    ip('-n', server, 'link', 'add', 'cable', 'type', 'veth', 'peer', 'name', 'cable', 'netns', host);
    for (const [name, address] of [
      [server, SERVER],
      [host, HOST],
    ] as const) {
      ip('-n', name, 'address', 'add', `${address}/24`, 'dev', 'cable');
      for (const device of ['lo', 'cable']) ip('-n', name, 'link', 'set', device, 'up');
      // Else lost data is resent up to a minute later, which only makes the test longer. Available from Linux 6.15.
      const setting = 'echo 1000 > /proc/sys/net/ipv4/tcp_rto_max_ms';
      spawnSync(pathOf('ip'), ['netns', 'exec', name, 'sh', '-c', setting], { stdio: 'ignore' });
    }
    // Only file system sockets lead from one namespace into another.
    const path = join(this.directory, 'socket');
    this.listening = createServer((socket) => this.forward(socket, port)).listen(path);
    await once(this.listening, 'listening');
    const command = ['netns', 'exec', server, process.execPath, '-e', RELAY, path];
    this.relay = spawn(pathOf('ip'), command, { stdio: ['ignore', 'pipe', 'inherit'] });
    if (this.relay.stdout) await once(this.relay.stdout, 'data');
  }

  /** Pulls the cable: neither end of a connection notices. */
  cut(): void {
    ip('-n', this.server, 'link', 'set', 'cable', 'down');
  }

  mend(): void {
    ip('-n', this.server, 'link', 'set', 'cable', 'up');
  }

  async close(): Promise<void> {
    this.listening?.close();
    for (const socket of this.sockets) socket.destroy();
    if (this.relay?.kill()) await once(this.relay, 'close');
    for (const name of [this.host, this.server]) spawnSync(pathOf('ip'), ['netns', 'delete', name]);
    rmSync(this.directory, { recursive: true, force: true });
  }

  private forward(one: Socket, port: number): void {
    const other = createConnection(port, '127.0.0.1');
    for (const [a, b] of [
      [one, other],
      [other, one],
    ] as const) {
      this.sockets.add(a);
      a.pipe(b);
      a.on('error', () => b.destroy()).on('close', () => (this.sockets.delete(a), b.destroy()));
    }
  }
}
