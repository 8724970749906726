// What stays behind of a context that could not be opened: `holdfast mcp` opens one again for each call.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openContext } from '../../../cli/context';
import * as connect from '../../../client/connect';
import * as server from '../../../engine/server';
import * as worker from '../../../workers/process/worker-process';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';

jest.mock('../../../client/connect', () => ({
  __esModule: true,
  ...jest.requireActual<object>('../../../client/connect'),
}));
jest.mock('../../../engine/server', () => ({
  __esModule: true,
  ...jest.requireActual<object>('../../../engine/server'),
}));
jest.mock('../../../workers/process/worker-process', () => ({ ensureWorker: jest.fn() }));

const close = jest.fn(() => Promise.resolve());
let dataDir: string;
const watches = new Set<unknown>();
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-context-'));
  close.mockClear();
  jest.spyOn(server, 'runningServer').mockResolvedValue({ address: '127.0.0.1:1' } as never);
  jest.spyOn(server, 'isGuarded').mockReturnValue(true);
  jest
    .spyOn(connect, 'resolveServer')
    .mockReturnValue({ isConfigured: false, namespace: 'default' } as never);
  jest.spyOn(connect, 'connectTemporal').mockResolvedValue({ connection: { close } } as never);
  const [start, end] = [setInterval, clearInterval];
  jest.spyOn(globalThis, 'setInterval').mockImplementation((...args: Parameters<typeof start>) => {
    const timer = start(...args);
    watches.add(timer);
    return timer;
  });
  jest.spyOn(globalThis, 'clearInterval').mockImplementation((timer) => {
    watches.delete(timer);
    end(timer);
  });
});
afterEach(() => {
  jest.restoreAllMocks();
  for (const timer of watches) clearInterval(timer as NodeJS.Timeout);
  watches.clear();
  rmSync(dataDir, { recursive: true });
});

const open = (config?: string): Promise<unknown> =>
  openContext({ data: dataDir, ...(config && { config }) }, { start: true });

test('a configuration that cannot be read leaves no watch of the disk behind', async () => {
  const config = join(dataDir, 'broken.toml');
  writeFileSync(config, '[encryption');
  await expect(open(config)).rejects.toThrow('broken.toml');
  expect(watches.size).toBe(0);
});

test('a worker that does not start leaves neither a watch nor a connection behind', async () => {
  jest
    .mocked(worker.ensureWorker)
    .mockRejectedValue(new HoldfastError('worker_failed', { reason: 'it ended', log: 'its log' }));
  await expect(open()).rejects.toMatchObject({ code: 'worker_failed' });
  expect(watches.size).toBe(0);
  expect(close).toHaveBeenCalledTimes(1);
});
