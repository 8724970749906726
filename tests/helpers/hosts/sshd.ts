// A real sshd for the user who runs the tests: a free port of this machine, its own keys, no password.
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { quote } from '../../../contracts/text/shell-word';
import { until } from '../until';
import { freePort } from '../free-port';
import { missingOf, pathOf } from '../run/programs';

/** As root it wants this folder, which only a boot makes. */
const PRIVILEGE_FOLDER = '/run/sshd';

/** Why this machine cannot have one; undefined if it can. */
export const noSshd = (): string | undefined => missingOf('sshd', 'ssh');

export class Sshd {
  private readonly directory = mkdtempSync(join(tmpdir(), 'holdfast-sshd-'));
  private child: ChildProcess | undefined;
  private port = 0;

  async start(): Promise<void> {
    const path = (name: string): string => join(this.directory, name);
    for (const name of ['host', 'user'])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path(name)]);
    this.port = await freePort();
    const hostKey = readFileSync(path('host.pub'), 'utf8');
    writeFileSync(path('known_hosts'), `[127.0.0.1]:${this.port} ${hostKey}`);
    writeFileSync(
      path('config'),
      `ListenAddress 127.0.0.1:${this.port}
HostKey ${path('host')}
AuthorizedKeysFile ${path('user.pub')}
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
LogLevel FATAL\n`,
    );
    if (process.getuid?.() === 0 && !existsSync(PRIVILEGE_FOLDER))
      mkdirSync(PRIVILEGE_FOLDER, { mode: 0o755 });
    // It must be started by its absolute path.
    this.child = spawn(pathOf('sshd'), ['-D', '-e', '-f', path('config')], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await until(() => takesConnections(this.port));
  }

  /** The command line that runs `command` on the other side, in a terminal there. */
  ssh(command: string): string {
    const options = [
      '-tt -F none -q',
      `-p ${this.port}`,
      `-i ${join(this.directory, 'user')}`,
      `-o UserKnownHostsFile=${join(this.directory, 'known_hosts')}`,
      '-o StrictHostKeyChecking=yes -o IdentitiesOnly=yes',
    ].join(' ');
    return `ssh ${options} ${userInfo().username}@127.0.0.1 ${quote(command)}`;
  }

  /** Whether a connection is accepted: a container may have an account without login. */
  letsIn(): boolean {
    return spawnSync('sh', ['-c', this.ssh('exit 42')]).status === 42;
  }

  async end(): Promise<void> {
    if (this.child && this.child.exitCode === null) {
      this.child.kill();
      await once(this.child, 'exit');
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => resolve((socket.destroy(), true)));
    socket.on('error', () => resolve(false));
  });
}
