// The audit log of a gateway: bounded, whole while several gateways write it, and never a reason not to answer.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChangeAudit } from '../../../../gateway/access/change-audit';
import { runDist } from '../../../helpers/engines/dist-process';
import { EngineOfItsOwn } from '../../../helpers/engines/engine-of-its-own';
import { ApiClient, gatewayOn, type Json } from '../../../helpers/gateway/gateway';

const LIMITS = { fileBytes: 20_000, files: 5 };
const entry = { who: 'a', name: 'a', from: '127.0.0.1', what: 'POST /x', status: 200 };
let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'holdfast-audit-'))));
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const folder = (): string => join(dataDir, 'gateway');
/** Oldest first. */
function auditFiles(): string[] {
  const number = (name: string): number => Number(/\d+/.exec(name)?.[0] ?? Infinity);
  return readdirSync(folder())
    .filter((name) => /^audit.*\.jsonl$/.test(name))
    .sort((a, b) => number(a) - number(b))
    .map((name) => join(folder(), name));
}
const linesOf = (file: string): Json[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Json);

test('it keeps the latest lines, in order, in at most five files of a limited size', () => {
  const audit = new ChangeAudit(dataDir, fail, LIMITS);
  for (let n = 0; n < 2_000; n++) audit.write({ ...entry, path: `/${n}` });
  const files = auditFiles();
  expect(files).toHaveLength(5);
  for (const file of files) {
    expect(statSync(file).size).toBeLessThan(LIMITS.fileBytes + 200);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
  const kept = files.flatMap(linesOf).map(({ path }) => path);
  const first = 2_000 - kept.length;
  expect(kept).toEqual(Array.from({ length: kept.length }, (_, index) => `/${first + index}`));
  expect(kept.length).toBeGreaterThan(400);
});

test('refusals of a stranger, however many and long, push no change out', () => {
  const audit = new ChangeAudit(dataDir, fail, { fileBytes: 100_000, files: 5 });
  audit.write({ ...entry, path: '/kept' });
  const refused = { ...entry, who: null, name: null, status: 401, code: 'access_needed' };
  for (let n = 0; n < 10_000; n++) audit.write({ ...refused, path: `/${'x'.repeat(15_000)}` });
  const viewers = { ...entry, who: 'v', name: 'v', status: 403, code: 'access_denied' };
  for (let n = 0; n < 10_000; n++) audit.write({ ...viewers, path: '/denied' });
  const lines = auditFiles().flatMap(linesOf);
  expect(lines[0]).toMatchObject({ path: '/kept' });
  expect(lines).toHaveLength(1 + 2 * 106);
  expect(Math.max(...lines.map((line) => JSON.stringify(line).length))).toBeLessThan(600);
  for (const status of [401, 403])
    expect(lines.filter((line) => line.status === status).at(-1)).toMatchObject({ refusals: 6_400 });
});

test('of a caller who is let in each refused change has its line', () => {
  const audit = new ChangeAudit(dataDir, fail, { fileBytes: 100_000, files: 5 });
  for (let n = 0; n < 200; n++) audit.write({ ...entry, path: `/${n}`, status: 409, code: 'id_conflict' });
  expect(auditFiles().flatMap(linesOf)).toHaveLength(200);
});

const WRITER = `
  const { ChangeAudit } = load('gateway/access/change-audit');
  const [dataDir, who, count, limits] = args;
  const fail = (reason) => { throw new Error(reason); };
  const audit = new ChangeAudit(dataDir, fail, JSON.parse(limits));
  const line = { who, name: who, from: '127.0.0.1', what: 'POST /x', status: 200 };
  process.once('SIGUSR2', () => {
    for (let n = 0; n < Number(count); n++) audit.write({ ...line, path: String(n) });
    console.log('done');
    process.exit();
  });
  setInterval(() => undefined, 1e6);
  // Only now: without its handler the signal would end it.
  console.log('ready');`;

test('of two gateways that write at once no line is lost, torn or written twice', async () => {
  const many = { ...LIMITS, files: 1_000 };
  const count = 4_000;
  const writers = ['one', 'two'].map((who) =>
    runDist(WRITER, dataDir, who, String(count), JSON.stringify(many)),
  );
  for (const writer of writers) expect(await writer.nextLine()).toBe('ready');
  for (const { child } of writers) child.kill('SIGUSR2');
  for (const writer of writers) {
    await writer.ended;
    expect(writer.stderr()).toBe('');
  }
  const files = auditFiles();
  const lines = files.flatMap(linesOf);
  for (const who of ['one', 'two']) {
    const own = lines.filter((line) => line.who === who).map(({ path }) => Number(path));
    expect(own).toEqual(Array.from({ length: count }, (_, index) => index));
  }
  // Each was renamed when it was full, and only then.
  for (const file of files.slice(0, -1)) expect(statSync(file).size).toBeGreaterThanOrEqual(LIMITS.fileBytes);
});

test('a gateway answers on a full disk, says once that nothing is recorded, and records again later', async () => {
  const engine = new EngineOfItsOwn();
  await engine.startServer();
  await engine.connect();
  const file = join(engine.dataDir, 'gateway', 'audit.jsonl');
  mkdirSync(join(engine.dataDir, 'gateway'), { recursive: true });
  symlinkSync('/dev/full', file);
  const warnings: string[] = [];
  const gateway = await gatewayOn(engine, {
    log: { warn: (text) => void warnings.push(text) },
  });
  try {
    const admin = await ApiClient.of(gateway, 'admin');
    const create = (name: string): Promise<Json> => admin.post('/v1/tokens', { name, role: 'viewer' });
    await create('first');
    await create('second');
    expect(warnings).toEqual([expect.stringContaining('ENOSPC')]);
    rmSync(file);
    await create('third');
    expect(linesOf(file)).toMatchObject([{ name: 'admin', what: 'POST /v1/tokens', status: 201 }]);
  } finally {
    await gateway.close();
    expect(await engine.end()).toEqual([]);
  }
});

function fail(reason: string): never {
  throw new Error(reason);
}
