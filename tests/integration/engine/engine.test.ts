// The embedded server as a real process. Folders are fresh, so that no other server is touched.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultCacheDir } from '../../../system/data-dir';
import { locateServerBinary } from '../../../engine/binary/locate';
import { withLock } from '../../../system/lock';
import { logSize, SERVER_LOG } from '../../../system/log/log-tail';
import {
  ensureServer,
  isGuarded,
  isGuardStopped,
  runningServer,
  stopServer,
  type EngineRecord,
  type EnsureOptions,
} from '../../../engine/server';
import { enginePaths } from '../../../engine/record';
import { uiToken } from '../../../engine/ui-guard/ui-token';
import { isAlive } from '../../../system/processes/process-identity';
import { runDist } from '../../helpers/engines/dist-process';
import { until } from '../../helpers/until';

jest.setTimeout(900_000);

const cacheDir = defaultCacheDir(process.env);
let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'engine-'))));
afterEach(async () => {
  await stopServer(dataDir);
  expect(serverProcesses()).toEqual([]);
  rmSync(dataDir, { recursive: true, force: true });
});

function ensure(options: Partial<EnsureOptions> = {}): Promise<EngineRecord> {
  return ensureServer({ dataDir, cacheDir, env: process.env, progress: () => undefined, ...options });
}

const ENSURE = `const record = await load('engine/server').ensureServer({
  dataDir: args[0], cacheDir: args[1], env: process.env, progress: (line) => console.error(line),
});
console.log(JSON.stringify(record));`;

/** Command lines of the living processes of our server, including its guard, whichever process started them. */
function serverProcesses(): string[] {
  const all = execFileSync('ps', ['-axww', '-o', 'stat=,args='], { encoding: 'utf8' }).split('\n');
  return all.filter((line) => line.includes(join(dataDir, 'engine')) && !line.startsWith('Z'));
}

/** Through the guard of the web UI, with the token. */
const ask = ({ uiUrl }: EngineRecord, path: string, init: RequestInit = {}): Promise<Response> => {
  const authorization = `Bearer ${uiToken(enginePaths(dataDir).uiAuthorization)}`;
  return fetch(`${uiUrl}/api/v1/namespaces${path}`, { ...init, headers: { authorization } });
};
const SERVER_AND_GUARD = ['start-dev', 'ui-guard-main.js'].map(
  (name) => expect.stringContaining(name) as string,
);
const KEPT = JSON.stringify({ namespace: 'kept', workflowExecutionRetentionPeriod: '86400s' });

/** Asks by a Host of our choice. */
async function statusUnder(url: string, host: string): Promise<number | undefined> {
  const sent = request(url, { setHost: false, headers: { host }, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

const statusOf = async (record: EngineRecord, namespace: string): Promise<number> =>
  (await ask(record, `/${namespace}`)).status;

async function listen(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** A CLI that says the right version and then does something else than serving. */
function brokenCli(script: string): NodeJS.ProcessEnv {
  const version = `echo 'temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)'`;
  return cliOf(`if [ "$1" = --version ]; then ${version}; exit; fi\n${script}`);
}

function cliOf(script: string): NodeJS.ProcessEnv {
  const path = join(dataDir, 'cli');
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { ...process.env, HOLDFAST_TEMPORAL_CLI: path };
}

/** The real CLI, whose server starts when the file exists. */
async function slowCli(go: string): Promise<NodeJS.ProcessEnv> {
  const { path } = await locateServerBinary({ cacheDir, env: process.env, progress: () => undefined });
  const script = `[ "$1" = --version ] || while [ ! -e '${go}' ]; do sleep 0.1; done\nexec '${path}' "$@"`;
  return cliOf(script);
}

/** Whether another process holds the lock; if so calls `onHeld` and returns when it is free. */
async function isHeld(lock: string, onHeld: () => void): Promise<boolean> {
  let held = false;
  const onWait = (): void => {
    held = true;
    onHeld();
  };
  await withLock(lock, async () => undefined, { onWait });
  return held;
}

/** A terminal's Ctrl-C goes to a process group. */
const groupOf = (pid: number): number =>
  Number(execFileSync('ps', ['-o', 'pgid=', '-p', String(pid)], { encoding: 'utf8' }));

test('servers of several data folders that start at once each get ports of their own', async () => {
  const folders = [1, 2, 3].map((n) => join(dataDir, `at-once-${n}`));
  folders.forEach((folder) => mkdirSync(folder));
  try {
    const records = await Promise.all(folders.map((folder) => ensure({ dataDir: folder })));
    expect(new Set(records.flatMap(({ port, uiPort }) => [port, uiPort])).size).toBe(6);
  } finally {
    await Promise.all(folders.map((folder) => stopServer(folder)));
  }
});

test('two processes that want a server at once get the same one, which outlives both and their Ctrl-C', async () => {
  const starters = [runDist(ENSURE, dataDir, cacheDir), runDist(ENSURE, dataDir, cacheDir)];
  const records = (await Promise.all(starters.map((s) => s.nextLine()))).map(
    (line) => JSON.parse(line) as EngineRecord,
  );
  await Promise.all(starters.map((s) => s.ended));
  const [record, other] = records as [EngineRecord, EngineRecord];
  expect(other).toEqual(record);
  expect(serverProcesses()).toEqual(SERVER_AND_GUARD);
  expect(await runningServer(dataDir)).toEqual(record);
  expect(groupOf(record.identity.pid)).toBe(record.identity.pid);
});

describe('a server that was started once', () => {
  const shared = mkdtempSync(join(tmpdir(), 'engine-'));
  let record: EngineRecord;
  beforeAll(async () => {
    record = await ensure({ dataDir: shared });
  });
  // The folder of its own that each test has is not used here.
  beforeEach(() => {
    rmSync(dataDir, { recursive: true });
    dataDir = shared;
  });
  afterEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'engine-'))));
  afterAll(async () => {
    await stopServer(shared);
    rmSync(shared, { recursive: true, force: true });
  });

  test('the web UI answers clients with the token, and only this user can read the folder and the token', async () => {
    expect((await fetch(record.uiUrl)).status).toBe(401);
    expect((await ask(record, '/default')).status).toBe(200);
    expect(statSync(enginePaths(dataDir).uiAuthorization).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDir, 'engine')).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, 'engine', 'server.json')).mode & 0o777).toBe(0o600);
  });

  test('the HTTP API refuses every name that a request can have, this machine’s own too', async () => {
    const { httpPort } = record;
    const url = `http://127.0.0.1:${httpPort}/api/v1/namespaces/default`;
    for (const host of [`127.0.0.1:${httpPort}`, 'localhost', '%2F', '*'])
      expect(await statusUnder(url, host)).toBe(403);
    expect(await statusUnder(url, '/')).toBe(400);
  });

  test('the search attributes of our workflows are registered', async () => {
    const answer = await ask(record, '/default/search-attributes');
    expect(await answer.json()).toMatchObject({
      customAttributes: {
        HoldfastAgent: 'INDEXED_VALUE_TYPE_KEYWORD',
        HoldfastHost: 'INDEXED_VALUE_TYPE_KEYWORD',
        HoldfastSession: 'INDEXED_VALUE_TYPE_INT',
        HoldfastState: 'INDEXED_VALUE_TYPE_KEYWORD',
        HoldfastWaitsFor: 'INDEXED_VALUE_TYPE_KEYWORD',
        HoldfastNotices: 'INDEXED_VALUE_TYPE_KEYWORD_LIST',
        HoldfastNoticedAt: 'INDEXED_VALUE_TYPE_DATETIME',
      },
    });
  });

  test('a server that runs on another port than the named one is left alone, and the caller is told', async () => {
    await expect(ensure({ port: record.port + 1 })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(isAlive(record.identity)).toBe(true);
  });

  test('stopping leaves no process and no record, and says whether there was one', async () => {
    const { identity } = record;
    expect(await stopServer(dataDir)).toBe(true);
    expect(isAlive(identity)).toBe(false);
    expect(serverProcesses()).toEqual([]);
    expect(await runningServer(dataDir)).toBeUndefined();
    expect(await stopServer(dataDir)).toBe(false);
  });
});

test('the guard ends with its server, and one that was killed comes back without a new server', async () => {
  const before = await ensure();
  process.kill(before.guard?.pid ?? 0, 'SIGKILL');
  await until(() => !isGuarded(before));
  expect(await runningServer(dataDir)).toEqual(before);
  const after = await ensure();
  expect([after.identity, after.uiPort]).toEqual([before.identity, before.uiPort]);
  expect(await statusOf(after, 'default')).toBe(200);
  process.kill(after.identity.pid, 'SIGKILL');
  await until(() => !isGuarded(after));
});

test('a guard that is stopped by a signal is replaced by the next start, without a new server', async () => {
  const before = await ensure();
  process.kill(before.guard?.pid ?? 0, 'SIGSTOP');
  await until(() => isGuardStopped(before));
  const after = await ensure();
  expect([after.identity, after.uiPort]).toEqual([before.identity, before.uiPort]);
  expect(await statusOf(after, 'default')).toBe(200);
  expect(serverProcesses().filter((line) => line.includes('ui-guard'))).toHaveLength(1);
});

test('the log of a server that runs for months is moved aside when it is full', async () => {
  const { logFile } = await ensure();
  appendFileSync(logFile, Buffer.alloc(SERVER_LOG.maxBytes + 1, '.'));
  await until(() => logSize(logFile) < SERVER_LOG.maxBytes);
  expect(logSize(`${logFile}.1`)).toBeGreaterThan(SERVER_LOG.maxBytes);
});

test('a server that is killed with -9 comes back with its data and on its ports', async () => {
  const before = await ensure();
  const made = await ask(before, '', {
    method: 'POST',
    body: KEPT,
  });
  expect(made.status).toBe(200);
  process.kill(before.identity.pid, 'SIGKILL');
  const after = await ensure();
  expect(after.identity).not.toEqual(before.identity);
  expect([after.port, after.uiPort]).toEqual([before.port, before.uiPort]);
  expect(await statusOf(after, 'kept')).toBe(200);
});

test('a database without a write-ahead log is continued with one, and each transaction is flushed', async () => {
  const before = await ensure({ database: { journal_mode: 'delete', synchronous: 'full' } });
  expect((await ask(before, '', { method: 'POST', body: KEPT })).status).toBe(200);
  expect(existsSync(`${before.dbFile}-wal`)).toBe(false);
  await stopServer(dataDir);
  const after = await ensure();
  expect(await statusOf(after, 'kept')).toBe(200);
  expect(existsSync(`${after.dbFile}-wal`)).toBe(true);
  expect(serverProcesses().join()).toContain('--sqlite-pragma synchronous=full');
});

test('a starter that is killed before its server answers leaves one server, which the next one takes over', async () => {
  const go = join(dataDir, 'go');
  const env = await slowCli(go);
  const starter = runDist(ENSURE.replace('process.env', JSON.stringify(env)), dataDir, cacheDir);
  await until(() => existsSync(join(dataDir, 'engine', 'server.json')));
  starter.child.kill('SIGKILL');
  await starter.ended;
  const taken = ensure({ env });
  // The lock is held from when the next one has seen that no server answers.
  await until(() => isHeld(join(dataDir, 'engine', 'lock'), () => writeFileSync(go, '')));
  const record = await taken;
  expect(isAlive(record.identity)).toBe(true);
  expect(serverProcesses()).toEqual(SERVER_AND_GUARD);
});

test('a previous port that has been taken meanwhile is replaced by another', async () => {
  const before = await ensure();
  process.kill(before.identity.pid, 'SIGKILL');
  await until(() => !isAlive(before.identity));
  const stranger = await listen(before.port);
  const after = await ensure();
  stranger.close();
  expect(after.port).not.toBe(before.port);
  expect(await statusOf(after, 'default')).toBe(200);
});

test('a named port that is taken is refused as port_in_use, and nothing is started', async () => {
  const stranger = await listen(0);
  const { port } = stranger.address() as AddressInfo;
  await expect(ensure({ port })).rejects.toMatchObject({ code: 'port_in_use', facts: { got: port } });
  stranger.close();
  expect(serverProcesses()).toEqual([]);
});

test('a server that ends at once is reported as engine_failed with the end of its log', async () => {
  await expect(ensure({ env: brokenCli('echo "disk is full"; exit 1') })).rejects.toMatchObject({
    code: 'engine_failed',
    facts: {
      reason: expect.stringContaining('disk is full') as string,
      log: join(dataDir, 'engine', 'server.log'),
    },
  });
});

test('a server that cannot be recorded leaves no process, however often it is tried', async () => {
  mkdirSync(enginePaths(dataDir).record, { recursive: true });
  for (let attempt = 0; attempt < 2; attempt++) await expect(ensure()).rejects.toThrow(/EISDIR|directory/);
  await until(() => serverProcesses().length === 0, 10_000);
});

test('a guard that cannot be recorded leaves none behind, and the next one guards the same server', async () => {
  const before = await ensure();
  process.kill(before.guard?.pid ?? 0, 'SIGKILL');
  await until(() => !isGuarded(before));
  // Gone after one attempt, which cannot write there.
  mkdirSync(`${enginePaths(dataDir).record}.${process.pid}.tmp`);
  await expect(ensure()).rejects.toThrow(/EISDIR|directory/);
  expect(serverProcesses()).toEqual([expect.stringContaining('start-dev')]);
  const after = await ensure();
  expect(after.identity).toEqual(before.identity);
  expect(await statusOf(after, 'default')).toBe(200);
});

test('an abort while the server starts leaves no process', async () => {
  const abort = new AbortController();
  const progress = (line: string): void => {
    if (line.startsWith('Starting')) setImmediate(() => abort.abort(new Error('Ctrl-C')));
  };
  const starting = ensure({ env: brokenCli('sleep 600'), signal: abort.signal, progress });
  await expect(starting).rejects.toThrow('Ctrl-C');
  expect(serverProcesses()).toEqual([]);
});
