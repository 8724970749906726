// A command line is started often: it loads only what its command needs, and no client unless needed.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noSandbox } from '../../helpers/hosts/sandbox';
import { missingOf, pathOf } from '../../helpers/run/programs';

const BIN = join(__dirname, '..', '..', '..', 'bin', 'holdfast.js');
/** Runs the command line in a process that says at its end how many modules of Temporal's client it has loaded. */
const PROBE = `
  process.argv.splice(1, 0, 'holdfast');
  const isOfClient = (path) => /@temporalio.client|@grpc/.test(path);
  process.on('exit', () => console.error(Object.keys(require.cache).filter(isOfClient).length));
  require(${JSON.stringify(BIN)});`;

let dataDir: string;
beforeAll(() => (dataDir = mkdtempSync(join(tmpdir(), 'holdfast-start-'))));
afterAll(() => rmSync(dataDir, { recursive: true }));

function clientModules(...args: string[]): number {
  const env = { ...process.env, HOLDFAST_DATA: dataDir };
  const { stderr } = spawnSync(process.execPath, ['-e', PROBE, '--', ...args], { env, encoding: 'utf8' });
  return Number(stderr.trim().split('\n').at(-1));
}

test.each(['--version', '--help', 'exec --help', 'no-such-command'])(
  'holdfast %s loads no client of Temporal',
  (line) => {
    expect(clientModules(...line.split(' '))).toBe(0);
  },
);

test('a command that asks the server loads it', () => {
  expect(clientModules('ps')).toBeGreaterThan(10);
});

const missing = missingOf('bwrap') ?? noSandbox();
(missing === undefined ? test : test.skip)(
  `as the first process of a container, a command that is still starting ends when it is told to${missing === undefined ? '' : ` (not checked: ${missing})`}`,
  async () => {
    // It is connected to, and says nothing: the command waits for it.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const asked = once(silent, 'connection');
    const { port } = silent.address() as AddressInfo;
    const words = ['worker', '--agents-only', '--address', `127.0.0.1:${port}`, '--data', dataDir];
    const container = ['--dev-bind', '/', '/', '--unshare-pid', '--as-pid-1', '--proc', '/proc', '--'];
    const child = spawn(pathOf('bwrap'), [...container, process.execPath, BIN, ...words]);
    const ended = once(child, 'exit');
    await asked;
    process.kill(firstProcessOf(child.pid), 'SIGTERM');
    expect(await ended).toEqual([143, null]);
    silent.close();
  },
  60_000,
);

/** The command itself: bubblewrap's own process, outside, waits for it. */
function firstProcessOf(pid: number | undefined): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return Number(children[0]);
}
