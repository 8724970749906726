// A real S3 server for tests: Versity's gateway over a folder, built with Go from the pinned module in
// tests/fixtures/s3-server. The build takes a minute or two and is kept from one run to the next.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, type Dirent } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultCacheDir } from '../../../system/data-dir';
import { findOnPath } from '../../../system/executable';
import { packageRoot } from '../../../system/package-root';
import { until } from '../until';
import { freePort } from '../free-port';

const MODULE = join(packageRoot(), 'tests', 'fixtures', 's3-server');
const PACKAGE = 'github.com/versity/versitygw/cmd/versitygw';
const VERSION = /versitygw (v\S+)/.exec(readFileSync(join(MODULE, 'go.mod'), 'utf8'))?.[1] ?? '';
const BINARY = join(defaultCacheDir(process.env), `versitygw-of-tests-${VERSION}`);
const BUILD_MS = 900_000;

/** Builds it, unless another process has meanwhile: arguments are the binary, a draft of it, and the package. */
const BUILD = `[ -x "$1" ] || { go build -trimpath -ldflags '-s -w' -o "$2" "$3" && mv "$2" "$1"; }`;

/** Why this machine cannot have one; undefined if it can. Builds it if need be. */
export function noS3Server(): string | undefined {
  if (existsSync(BINARY)) return undefined;
  if (!findOnPath('go', process.env.PATH)) return 'no S3 server: install Go';
  const draft = `${BINARY}.${process.pid}`;
  try {
    mkdirSync(defaultCacheDir(process.env), { recursive: true });
    const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOWORK: 'off' };
    // Of the files that need it, each in its own process, one builds.
    const args = [`${BINARY}.lock`, 'sh', '-c', BUILD, 'sh', BINARY, draft, PACKAGE];
    execFileSync('flock', args, { cwd: MODULE, env, stdio: 'pipe', timeout: BUILD_MS });
    return undefined;
  } catch (err) {
    rmSync(draft, { force: true });
    return `no S3 server can be built here: ${String(err).split('\n')[0]}`;
  }
}

export class S3Server {
  private readonly directory = mkdtempSync(join(tmpdir(), 'holdfast-s3-'));
  private child: ChildProcess | undefined;
  private port = 0;
  /** For clients: credentials as AWS's libraries find them. */
  readonly env = { AWS_ACCESS_KEY_ID: 'holdfast-tests', AWS_SECRET_ACCESS_KEY: 'only for these tests' };

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Also starts it again, on the same port and with the same objects; nothing if it runs. */
  async start(): Promise<void> {
    if (this.child) return;
    this.port ||= await freePort();
    const { AWS_ACCESS_KEY_ID: access, AWS_SECRET_ACCESS_KEY: secret } = this.env;
    const args = ['--port', `127.0.0.1:${this.port}`, '--access', access, '--secret', secret, '--quiet'];
    // Without extended attributes, which /tmp need not have.
    this.child = spawn(BINARY, [...args, 'posix', '--nometa', this.directory], { stdio: 'ignore' });
    await until(
      () =>
        fetch(this.endpoint).then(
          () => true,
          () => false,
        ),
      20_000,
    );
  }

  makeBucket(name: string): void {
    mkdirSync(join(this.directory, name), { recursive: true });
  }

  /** Paths of the objects, below the bucket. */
  objects(bucket: string): string[] {
    const all = join(this.directory, bucket);
    // Folders come and go: of one that has gone while it is read there is nothing to list.
    const below = (folder: string): string[] =>
      entriesOf(folder).flatMap((entry) => {
        const path = join(folder, entry.name);
        return entry.isDirectory() ? below(path) : [path.slice(all.length + 1)];
      });
    return below(all);
  }

  path(bucket: string, object: string): string {
    return join(this.directory, bucket, object);
  }

  /** SIGKILL, and gone when this resolves. */
  async stop(): Promise<void> {
    const child = this.child;
    this.child = undefined;
    if (!child) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** While it is stopped: resolves when somebody has tried to reach it. */
  async untilTriedInVain(): Promise<void> {
    const server = createServer((socket) => socket.destroy()).listen(this.port, '127.0.0.1');
    await once(server, 'connection');
    server.close();
    await once(server, 'close');
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw err;
  }
}
