// A command line is started often: it loads only what its command needs, and no client unless needed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
