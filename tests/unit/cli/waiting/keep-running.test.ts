// How often a worker that cannot be started is tried, and what is said of it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepRunning, type Keeping } from '../../../../cli/waiting/keep-running';
import { createEngineFolder, enginePaths, writeRecord, type EngineRecord } from '../../../../engine/record';
import { identityOf } from '../../../../system/processes/process-identity';
import { until } from '../../../helpers/until';

const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-keep-'));
let keeping: Keeping;
let said = '';
beforeAll(() => {
  const paths = enginePaths(dataDir);
  createEngineFolder(paths);
  // A server that runs; its worker does not.
  writeRecord(paths, { identity: identityOf(process.pid) } as EngineRecord);
  const write = (text: unknown): boolean => ((said += String(text)), true);
  jest.spyOn(process.stderr, 'write').mockImplementation(write);
});
afterAll(() => {
  keeping.stop();
  jest.restoreAllMocks();
  rmSync(dataDir, { recursive: true });
});

test('a worker that cannot be started again is tried less and less often, and each reason is told once', async () => {
  const tries: number[] = [];
  const worker = (): Promise<never> => {
    tries.push(performance.now());
    return Promise.reject(new Error(tries.length < 3 ? 'first' : 'second'));
  };
  keeping = keepRunning(dataDir, { server: () => Promise.resolve(), worker }, { answersOthers: true });
  await until(() => tries.length === 3);
  const [one = 0, two = 0, three = 0] = tries;
  expect(two - one).toBeGreaterThan(990);
  expect(three - two).toBeGreaterThan(1_990);
  await until(() => said.includes('second'));
  expect(said.match(/The worker is gone|first|second/g)).toEqual(['The worker is gone', 'first', 'second']);
  // It may pass by itself yet.
  expect(keeping.fault()).toBeUndefined();
}, 20_000);
