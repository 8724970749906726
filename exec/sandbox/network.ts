// The network of a sandbox that may reach named hosts: a network namespace with only a loopback, on which a proxy of
// this process listens. There is no other way out, whatever a program in there tries.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { compiledEntry } from '../../system/package-root';
import { withPipes } from '../../system/processes/with-pipes';
import { NamedHosts } from './named-hosts';
import type { OutsidePrograms } from './profile';
import { createProxy } from './proxy';

/** Time before it is reported as not working. */
const READY_MS = 10_000;

export class SandboxNetwork {
  private readonly scripts = new Set<Socket>();

  private constructor(
    private readonly nsenter: string,
    private readonly proxy: HttpServer,
    /** Descriptors that keep the namespaces alive when nothing runs in them. */
    private readonly namespaces: { user: number; net: number },
  ) {
    proxy.on('connection', (script: Socket) => {
      this.scripts.add(script);
      script.once('close', () => this.scripts.delete(script));
    });
  }

  /**
   * Costs about 50 ms, and leaves no process.
   * @throws Error with what is missing or was refused
   */
  static async open({ bwrap, nsenter }: OutsidePrograms, hosts: readonly string[]): Promise<SandboxNetwork> {
    if (nsenter === undefined) throw new Error('there is no program nsenter (util-linux) on the PATH');
    const proxy = createProxy(new NamedHosts(hosts));
    const { pid, listener, end } = await listenInside(bwrap);
    try {
      const user = openSync(`/proc/${pid}/ns/user`, 'r');
      const net = openSync(`/proc/${pid}/ns/net`, 'r');
      proxy.listen(listener);
      return new SandboxNetwork(nsenter, proxy, { user, net });
    } finally {
      await end();
    }
  }

  /** Prefix for a command line that is to run in it. */
  get enter(): string[] {
    const { user, net } = this.namespaces;
    const of = (descriptor: number): string => `/proc/${process.pid}/fd/${descriptor}`;
    return [this.nsenter, `--user=${of(user)}`, `--net=${of(net)}`, '--preserve-credentials', '--'];
  }

  /** Programs that run in it then have no way out. */
  close(): void {
    this.proxy.close();
    for (const script of this.scripts) script.destroy();
    for (const descriptor of Object.values(this.namespaces)) closeSync(descriptor);
  }
}

interface Inside {
  pid: number;
  /** Listens in the namespace, but belongs to this process now. */
  listener: Server;
  /** Ends the helper; the namespace lives on for processes that have opened it. */
  end: () => Promise<void>;
}

/** Uses bubblewrap, which also brings the loopback up. */
async function listenInside(bwrap: string): Promise<Inside> {
  const namespaces = ['--unshare-user', '--unshare-net', '--die-with-parent', '--dev-bind', '/', '/'];
  const command = [process.execPath, compiledEntry('exec/sandbox/proxy-listener.js')];
  const child = withPipes(
    spawn(bwrap, [...namespaces, '--', ...command], {
      cwd: '/',
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      timeout: READY_MS,
      killSignal: 'SIGKILL',
    }),
  );
  const said = text(child.stderr as Readable);
  // Not `close`: it never arrives if this side closes the channel.
  const ended = once(child, 'exit');
  const failed = ended.then(async () => {
    throw new Error(`its network namespace: ${(await said).trim() || 'bwrap ended'}`);
  });
  // It also settles after success.
  failed.catch(() => undefined);
  const [pid, listener] = (await Promise.race([once(child, 'message'), failed])) as [number, Server];
  const end = async (): Promise<void> => {
    if (child.connected) child.disconnect();
    await ended;
  };
  return { pid, listener, end };
}
