// What the doctor says about the disk, given the configured limits.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkStorage } from '../../../cli/doctor/check-storage';
import { sessionPaths } from '../../../exec/session-paths';

let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'holdfast-doctor-'))));
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function put(path: string, bytes: number): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, Buffer.alloc(bytes));
}
const log = (session: number): string => sessionPaths(dataDir, { agent: 'a', host: 'local', session }).log;

test('the doctor shows how much of their limits logs and values use, and the largest users', async () => {
  expect(await checkStorage(dataDir)).toEqual({
    logs: { status: 'ok', found: 'none' },
    values: { status: 'ok', found: '0.0 MiB of 2048 MiB' },
    checkpoints: { status: 'ok', found: 'none yet' },
  });
  writeFileSync(join(dataDir, 'holdfast.toml'), '[storage]\nsession_log_mb = 64\nagent_values_mb = 100\n');
  put(log(1), 1_000_000);
  put(log(2), 5_000_000);
  put(join(dataDir, 'blobs', 'b', '0'.repeat(64)), 3_000_000);
  put(join(dataDir, 'blobs', 'c', 'images', '1'.repeat(64)), 1_000_000);
  put(join(dataDir, 'checkpoints', 'local', 'store.git', 'objects', 'pack', 'one.pack'), 524_288);
  expect(await checkStorage(dataDir)).toEqual({
    logs: {
      status: 'ok',
      found:
        'host local: 5.7 MiB of 4096 MiB in 2 sessions, the largest session 2 of a with 4.8 MiB of 64 MiB; closed ones are kept for 90 days',
    },
    values: {
      status: 'ok',
      found: '2.9 MiB of 2048 MiB, the most by calls of b: 2.9 MiB of 100 MiB; images: 1.0 MiB of 2048 MiB',
    },
    checkpoints: { status: 'ok', found: 'host local: 0.5 MiB of 8192 MiB' },
  });
});

test('the doctor warns before values are refused, and says so if the limits cannot be read', async () => {
  writeFileSync(join(dataDir, 'holdfast.toml'), '[storage]\nagent_values_mb = 3\n');
  put(join(dataDir, 'blobs', 'b', '0'.repeat(64)), 3_000_000);
  expect((await checkStorage(dataDir)).values).toMatchObject({
    status: 'warn',
    next: expect.any(String) as string,
  });
  writeFileSync(join(dataDir, 'holdfast.toml'), '[storage]\nagent_values_mb = 0\n');
  expect((await checkStorage(dataDir)).logs).toMatchObject({
    status: 'fail',
    found: expect.stringContaining('storage.agent_values_mb') as string,
  });
});
