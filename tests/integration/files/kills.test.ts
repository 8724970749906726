// A transfer that is killed in its middle leaves nothing half done, and the next goes on with what is there.
import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { longTest } from '../../helpers/run/long-run';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';
import { fileNeeds } from '../../helpers/run/programs';

fileNeeds('openssl');

const MB = 1_000_000;
const SIZE = 200 * MB;
const engine = new EngineOfItsOwn();
const files = scratch();
let pi: RemoteHost;
let large: string;
let sum: string;

beforeAll(async () => {
  await engine.start();
  large = join(files.directory, 'large');
  for (let at = 0; at < SIZE; at += 10 * MB) appendFileSync(large, randomBytes(10 * MB));
  sum = sumOf(large);
  pi = new RemoteHost('pi', engine.server().address);
  await serve();
}, 60_000);
afterAll(async () => {
  await pi.end();
  files.remove();
  expect(await engine.end()).toEqual([]);
}, 60_000);

async function serve(): Promise<void> {
  await pi.serve('--listen', '127.0.0.1:0');
  process.env.HOLDFAST_HOST_TOKEN = (await pi.cli('host', 'token', 'pi')).trim();
  await until(async () => Boolean((await engine.client.hosts.state('pi').catch(() => null))?.facts?.listens));
}
afterAll(() => delete process.env.HOLDFAST_HOST_TOKEN);

const sumOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

async function sumOfStream(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest('hex');
}

/** Bytes in the partial files of a folder. */
const partial = (folder: string): number =>
  readdirSync(folder)
    .filter((name) => name.startsWith('.holdfast-'))
    .reduce((all, name) => all + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);

interface Last {
  sent: number;
  bytes: number;
  done: boolean;
}
async function copyAgain(from: string, to: string): Promise<Last> {
  const { code, stdout, stderr } = await engine.cli(['cp', from, to, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Last;
}

const ways = (): [from: string, to: string, folder: string, name: string][] => {
  const back = join(files.directory, 'back');
  mkdirSync(back, { recursive: true });
  writeFileSync(join(pi.root, 'theirs'), readFileSync(large));
  return [
    [large, 'pi/nobody:', pi.root, 'large'],
    ['pi/nobody:theirs', `${back}/`, back, 'theirs'],
  ];
};

async function killed(
  kill: (child: ReturnType<EngineOfItsOwn['spawnCli']>) => Promise<unknown>,
): Promise<void> {
  for (const [from, to, folder, name] of ways()) {
    rmSync(join(folder, name), { force: name !== 'theirs' || folder !== pi.root });
    const child = engine.spawnCli(['cp', from, to]);
    const closed = once(child, 'close');
    await until(() => partial(folder) > 20 * MB);
    await kill(child);
    await closed;
    expect(existsSync(join(folder, name))).toBe(false);
    const had = partial(folder);
    expect(had).toBeGreaterThan(20 * MB);
    const last = await copyAgain(from, to);
    expect(last).toMatchObject({ done: true, bytes: SIZE });
    // Nothing that was there came again.
    expect(last.sent).toBe(SIZE - had);
    expect(sumOf(join(folder, name))).toBe(sum);
    expect(partial(folder)).toBe(0);
    rmSync(join(folder, name));
  }
}

test('a command line that is killed leaves what it had, and its next run sends the rest', async () => {
  await killed(async (child) => {
    child.kill('SIGKILL');
    await once(child, 'exit');
    // The host hears of it, and puts what it has in order.
    await until(() => readdirSync(pi.root).every((name) => !/\.[0-9a-f]{8}\.part$/.test(name)));
  });
}, 120_000);

test('a host’s worker that is killed ends the transfer with what to do, and the next one sends the rest', async () => {
  let said = '';
  await killed(async (child) => {
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const exited = once(child, 'exit');
    await pi.kill();
    await exited;
    expect(child.exitCode).toBe(69);
    await serve();
  });
  expect(said).toContain('transfer_interrupted');
}, 120_000);

test('standard input that is interrupted by the end of its host is to be sent again from the beginning', async () => {
  const child = engine.spawnCli(['cp', '-', 'pi/nobody:typed'], 'pipe');
  const said = text(child.stderr as Readable);
  child.stdin?.write('typed');
  await until(() => readdirSync(pi.root).some((name) => name.startsWith('.holdfast-new')));
  await pi.kill();
  expect(await said).toMatch(/transfer_interrupted.* again from the beginning/s);
  await serve();
}, 60_000);

test('Ctrl-C leaves no half file under its name, and exits with 130', async () => {
  const child = engine.spawnCli(['cp', large, 'pi/nobody:']);
  await until(() => partial(pi.root) > 5 * MB);
  child.kill('SIGINT');
  await once(child, 'close');
  expect(child.exitCode).toBe(130);
  expect(existsSync(join(pi.root, 'large'))).toBe(false);
}, 60_000);

longTest(
  'two gigabytes cost no more memory than two megabytes',
  async () => {
    const huge = join(files.directory, 'huge');
    for (let at = 0; at < 2_000; at += 50) appendFileSync(huge, randomBytes(50 * MB));
    const child = engine.spawnCli(['cp', huge, 'pi/nobody:']);
    const closed = once(child, 'close');
    let most = 0;
    const look = setInterval(() => {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      most = Math.max(most, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    }, 200);
    await closed;
    clearInterval(look);
    expect(child.exitCode).toBe(0);
    expect(await sumOfStream(join(pi.root, 'huge'))).toBe(await sumOfStream(huge));
    expect(most).toBeLessThan(300_000);
  },
  300_000,
);
