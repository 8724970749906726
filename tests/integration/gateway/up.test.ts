// `holdfast up` also starts the API and the page, in a process that outlives it; `holdfast down` ends it.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { operatingLock } from '../../../cli/waiting/one-at-a-time';
import { stopMarker } from '../../../system/processes/stop-marker';
import { enginePaths, readRecord } from '../../../engine/record';
import { lastDetached, runningGateway, type GatewayRecord } from '../../../gateway/gateway-record';
import { holdLock } from '../../../system/lock';
import { isAlive } from '../../../system/processes/process-identity';
import { runningWorker } from '../../../workers/process/worker-record';
import { bytesIn } from '../../helpers/engines/bytes-in';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { scratch, uniqueId } from '../../helpers/engines/temporal';
import { ApiClient } from '../../helpers/gateway/gateway';
import { freePort } from '../../helpers/free-port';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
beforeAll(() => engine.start(), 60_000);
const files = scratch();
afterAll(async () => {
  files.remove();
  expect(await engine.end()).toEqual([]);
}, 60_000);
// A test that fails in the middle must not leave a frozen one behind.
afterEach(() => {
  const left = lastDetached(engine.dataDir);
  if (left && isAlive(left.identity)) process.kill(left.identity.pid, 'SIGCONT');
});

interface Up {
  page: { url: string; link: string } | null;
}

/** As a person starts it: without the option that other tests are given. */
async function up(...args: string[]): Promise<Up> {
  const child = engine.spawnCli(['up', '--json', ...args]);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout as Readable),
    text(child.stderr as Readable),
    once(child, 'close') as Promise<[number]>,
  ]);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Up;
}
function gateway(): GatewayRecord {
  const record = runningGateway(engine.dataDir);
  if (!record) throw new Error('no gateway');
  return record;
}
const ok = async (url: string): Promise<boolean> => (await fetch(`${url}/healthz`)).ok;
const logIn = async ({ url, link }: NonNullable<Up['page']>): Promise<number> => {
  const token = link.split('#token=')[1];
  const headers = { 'Content-Type': 'application/json', Origin: url };
  return (await fetch(`${url}/v1/login`, { method: 'POST', headers, body: JSON.stringify({ token }) }))
    .status;
};

test('`up` prints a link that logs in once, the gateway outlives it, and another `up` uses it again', async () => {
  const { page } = await up('--listen', '127.0.0.1:0');
  if (!page) throw new Error('no page');
  expect(await ok(page.url)).toBe(true);
  expect(await logIn(page)).toBe(200);
  expect(await logIn(page)).toBe(401);
  const { pid } = gateway().identity;
  const again = await up();
  expect(again.page?.url).toBe(page.url);
  expect(again.page?.link).not.toBe(page.link);
  expect(gateway().identity.pid).toBe(pid);
  const { stdout } = await engine.cliInTurn(['ui', '--json']);
  expect((JSON.parse(stdout) as { url: string }).url).toBe(page.url);
}, 120_000);

test('one that is frozen is told by `doctor` and replaced by `up`, at the same address', async () => {
  await up('--listen', '127.0.0.1:0');
  const before = gateway();
  process.kill(before.identity.pid, 'SIGSTOP');
  const { stdout } = await engine.cliInTurn(['doctor', '--json']);
  const checks = JSON.parse(stdout) as { name: string; status: string; found: string }[];
  const page = checks.find(({ name }) => name === 'page');
  expect(page).toMatchObject({ status: 'fail' });
  expect(page?.found).toContain(`pid ${before.identity.pid} exists but does not respond`);
  const { page: next } = await up();
  expect(next?.url).toBe(before.url);
  expect(isAlive(before.identity)).toBe(false);
  expect(await ok(before.url)).toBe(true);
}, 120_000);

test('one that was killed starts at the same address, or at a free one if something else is there by now', async () => {
  await up('--listen', `127.0.0.1:${await freePort()}`);
  const before = gateway();
  const kill = async ({ identity }: GatewayRecord): Promise<void> => {
    process.kill(identity.pid, 'SIGKILL');
    await until(() => !isAlive(identity));
  };
  await kill(before);
  expect((await up()).page?.url).toBe(before.url);
  await kill(gateway());
  const other = createServer().listen(Number(new URL(before.url).port), '127.0.0.1');
  await once(other, 'listening');
  try {
    const { page } = await up();
    expect(page?.url).not.toBe(before.url);
    expect(await ok(page?.url ?? '')).toBe(true);
  } finally {
    other.close();
  }
}, 180_000);

test('it works with the worker of its data folder again after that was killed', async () => {
  const { page } = await up('--listen', '127.0.0.1:0');
  await engine.killWorker();
  const { stdout } = await engine.cliInTurn(['token', 'create', 'one', '--role', 'operator']);
  const answer = await fetch(`${page?.url}/v1/sessions/any/local/0/exec`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${stdout.trim()}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ code: 'echo alive' }),
  });
  expect(await answer.json()).toMatchObject({ state: 'exited', output: 'alive\n' });
}, 120_000);

test('agents that it starts go to the queue of the worker that the last `up` has started', async () => {
  await up('--listen', '127.0.0.1:0');
  const queue = uniqueId('other-queue');
  const { page } = await up('--queue', queue);
  const { stdout } = await engine.cliInTurn(['token', 'create', 'starter', '--role', 'operator']);
  const id = uniqueId('on-it');
  const { model } = files.settings([{ text: 'done' }]);
  const answer = await fetch(`${page?.url}/v1/agents`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${stdout.trim()}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ id, task: 'x', model }),
  });
  expect(answer.status).toBe(201);
  const { taskQueue } = await engine.client.temporal.workflow.getHandle(`agent/${id}`).describe();
  expect(taskQueue).toBe(queue);
  await up('--no-queue');
}, 180_000);

test('`up --config` replaces the gateway, too: it encrypts as the worker does', async () => {
  const own = new EngineOfItsOwn();
  try {
    await own.startServer();
    await own.connect();
    const canary = uniqueId('in-the-clear');
    const key = join(own.dataDir, 'one.key');
    writeFileSync(key, randomBytes(32).toString('base64'), { mode: 0o600 });
    const config = join(own.dataDir, 'encrypted.toml');
    writeFileSync(config, `[encryption]\nkeys = [{ id = "one", file = "${key}" }]\n`);
    const upWith = async (args: string[], env: NodeJS.ProcessEnv = {}): Promise<Up['page']> => {
      const { stdout, stderr } = await own.cliInTurn(['up', '--json', '--listen', '127.0.0.1:0', ...args], {
        env,
      });
      if (stdout === '') throw new Error(stderr);
      return (JSON.parse(stdout) as Up).page;
    };
    const plain = await upWith(['--no-config'], { HOLDFAST_CONFIG: config });
    expect(runningWorker(own.dataDir)?.config).toBeNull();
    const { stdout } = await own.cliInTurn(['token', 'create', 'one', '--role', 'operator']);
    /** Whether the server has what was sent to an agent through the API in the clear. */
    const isReadable = async (page: Up['page'], id: string): Promise<boolean> => {
      const api = new ApiClient(page?.url ?? '', stdout.trim());
      await api.post('/v1/agents', { id, task: canary, model: files.model([{ text: 'done' }]) });
      const { events } = await own.client.temporal.workflow.getHandle(`agent/${id}`).fetchHistory();
      const [started] = events ?? [];
      return bytesIn(started).includes(canary);
    };
    expect(await isReadable(plain, 'first')).toBe(true);
    const beside = await own.cliInTurn(['exec', '--config', config, 'true']);
    expect(beside).toMatchObject({ code: 0 });
    expect(beside.stderr).toMatch(
      /the page and the API keep their previous configuration: `holdfast up[^`]*` gives/,
    );
    const encrypted = await upWith(['--config', config]);
    expect((await own.cliInTurn(['exec', '--config', config, 'true'])).stderr).toBe('');
    expect(await isReadable(encrypted, 'second')).toBe(false);
    // As before, without a further replacement.
    expect(await upWith([])).toMatchObject({ url: encrypted?.url });
  } finally {
    expect(await own.end()).toEqual([]);
  }
}, 180_000);

test('a place that the page cannot have is refused, and page and worker run on', async () => {
  const { page } = await up('--listen', '127.0.0.1:0');
  const before = gateway();
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  try {
    for (const [listen, exitCode, reason] of [
      ['nonsense', 64, 'ADDRESS:PORT'],
      ['127.0.0.1:99999', 64, 'ADDRESS:PORT'],
      ['192.0.2.1:7280', 64, 'EADDRNOTAVAIL'],
      [`127.0.0.1:${port}`, 71, 'allowed a free port'],
    ] as const) {
      const { code, stderr } = await engine.cliInTurn(['up', '--listen', listen]);
      expect({ listen, code, stderr }).toEqual({
        listen,
        code: exitCode,
        stderr: expect.stringContaining(`got ${listen}`) as string,
      });
      expect(stderr).toContain(reason);
      expect(gateway()).toEqual(before);
      expect(await ok(page?.url ?? '')).toBe(true);
    }
    expect((await engine.cliInTurn(['exec', 'true'])).code).toBe(0);
  } finally {
    other.close();
  }
}, 120_000);

test('`up --no-serve` starts none, and ends none', async () => {
  await up('--listen', '127.0.0.1:0');
  const { identity } = gateway();
  expect(await up('--no-serve')).toMatchObject({ page: null });
  expect(isAlive(identity)).toBe(true);
}, 120_000);

test('`up` and `down` wait for each other, so that the end is what the last one says', async () => {
  const own = new EngineOfItsOwn();
  const release = await holdLock(operatingLock(own.dataDir));
  try {
    const heard = async (child: ChildProcess): Promise<string> => {
      const said = once(child.stderr as Readable, 'data').then((given) => String(given[0]));
      return Promise.race([said, once(child, 'close').then(() => 'it has ended')]);
    };
    const [starting, stopping] = [own.spawnCli(['up', '--no-serve']), own.spawnCli(['down'])];
    const ended = [starting, stopping].map((child) => once(child, 'close'));
    for (const said of await Promise.all([starting, stopping].map(heard)))
      expect(said).toContain('Another `holdfast up` or `holdfast down` of this data folder runs');
    // Neither has begun.
    expect(readRecord(enginePaths(own.dataDir))).toBeUndefined();
    expect(existsSync(stopMarker(own.dataDir))).toBe(false);
    starting.kill('SIGKILL');
    release();
    expect(await ended[1]).toEqual([0, null]);
  } finally {
    expect(await own.end()).toEqual([]);
  }
}, 60_000);

test('`down` ends the gateway with the worker and the server, and tells it', async () => {
  const own = new EngineOfItsOwn({ ownServer: true });
  try {
    const { code, stderr } = await own.cliInTurn(['up', '--listen', '127.0.0.1:0']);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const running = runningGateway(own.dataDir);
    const { stdout } = await own.cliInTurn(['down', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ gateway: true, worker: true, server: true });
    expect(running && isAlive(running.identity)).toBe(false);
  } finally {
    expect(await own.end()).toEqual([]);
  }
}, 120_000);
