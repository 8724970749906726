// How often a worker that cannot be started is tried, and what is said of it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepRunning, type Keeping } from '../../../../cli/waiting/keep-running';
import { HoldfastError } from '../../../../contracts/errors/holdfast-error';
import { createEngineFolder, enginePaths, writeRecord, type EngineRecord } from '../../../../engine/record';
import { identityOf } from '../../../../system/processes/process-identity';
import { until } from '../../../helpers/until';

const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-keep-'));
let keeping: Keeping;
let said = '';
let tries: number[] = [];
beforeAll(() => {
  const paths = enginePaths(dataDir);
  createEngineFolder(paths);
  // A server that runs; its worker does not.
  writeRecord(paths, { identity: identityOf(process.pid), guard: identityOf(process.pid) } as EngineRecord);
  const write = (text: unknown): boolean => ((said += String(text)), true);
  jest.spyOn(process.stderr, 'write').mockImplementation(write);
});
beforeEach(() => {
  said = '';
  tries = [];
});
afterEach(() => keeping.stop());
afterAll(() => {
  jest.restoreAllMocks();
  rmSync(dataDir, { recursive: true });
});

/** One second, then two. */
function expectLongerPauses(): void {
  const [one = 0, two = 0, three = 0] = tries;
  expect(two - one).toBeGreaterThan(990);
  expect(three - two).toBeGreaterThan(1_990);
}

test('a worker that cannot be started again is tried less and less often, and each reason is told once', async () => {
  const worker = (): Promise<never> => {
    tries.push(performance.now());
    return Promise.reject(new Error(tries.length < 3 ? 'first' : 'second'));
  };
  keeping = keepRunning(dataDir, { server: () => Promise.resolve(), worker }, { answersOthers: true });
  await until(() => tries.length === 3);
  expectLongerPauses();
  await until(() => said.includes('second'));
  expect(said.match(/The worker is gone|first|second/g)).toEqual(['The worker is gone', 'first', 'second']);
  // It may pass by itself yet.
  expect(keeping.fault()).toBeUndefined();
}, 20_000);

test('a worker that dies again and again right after its start is started less and less often, which is told once', async () => {
  // It starts, but is gone at the next look.
  const worker = (): Promise<void> => {
    tries.push(performance.now());
    return Promise.resolve();
  };
  keeping = keepRunning(dataDir, { server: () => Promise.resolve(), worker }, {});
  await until(() => tries.length === 3);
  expectLongerPauses();
  expect(said.match(/The worker is gone|the worker ended again/g)).toEqual([
    'The worker is gone',
    'the worker ended again',
  ]);
}, 20_000);

test('a request that waits for a worker which dies again and again right after its start is told so', async () => {
  keeping = keepRunning(
    dataDir,
    { server: () => Promise.resolve(), worker: () => Promise.resolve() },
    { answersOthers: true },
  );
  await until(() => keeping.fault() !== undefined);
  const reason = 'the worker ended again within 5 seconds of its start';
  expect(keeping.fault()).toMatchObject({ code: 'worker_failed', effect: 'possible', facts: { reason } });
}, 30_000);

test('a request that waits for a server which cannot be restarted is told so, and not of its worker', async () => {
  const server = (): Promise<never> => {
    tries.push(performance.now());
    return Promise.reject(new HoldfastError('port_in_use', { got: 7233 }));
  };
  const paths = enginePaths(dataDir);
  // No process has this start time.
  writeRecord(paths, { identity: { ...identityOf(process.pid), startTime: '1' } } as EngineRecord);
  keeping = keepRunning(dataDir, { server, worker: () => Promise.resolve() }, { answersOthers: true });
  await until(() => keeping.fault() !== undefined);
  expect(keeping.fault()).toMatchObject({
    code: 'engine_failed',
    facts: { log: paths.logFile, reason: expect.stringContaining('7233') as unknown },
  });
}, 20_000);

test('a guard of the web UI that is gone is started again, and if that fails nothing else is given up', async () => {
  const dead = { ...identityOf(process.pid), startTime: '1' };
  writeRecord(enginePaths(dataDir), { identity: identityOf(process.pid), guard: dead } as EngineRecord);
  const server = (): Promise<never> => {
    tries.push(performance.now());
    return Promise.reject(new HoldfastError('port_in_use', { got: 8233 }));
  };
  let workers = 0;
  keeping = keepRunning(dataDir, { server, worker: () => Promise.resolve(void workers++) }, {});
  await until(() => workers === 1);
  expect(tries).toHaveLength(1);
  expect(said).toContain('The guard of the web UI is gone or stopped; starting another.');
  expect(keeping.fault()).toBeUndefined();
}, 20_000);
