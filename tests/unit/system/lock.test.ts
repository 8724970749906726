import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withLock } from '../../../system/lock';
import { runDist } from '../../helpers/engines/dist-process';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
  path = join(folder, 'sub', 'lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const HOLD = `await load('system/lock').withLock(args[0], () => new Promise(() => {
  console.log('held');
  setInterval(() => {}, 60_000);
}));`;

const CRITICAL_SECTIONS = `const { appendFileSync } = require('node:fs');
for (let i = 0; i < 20; i++) await load('system/lock').withLock(args[0], async () => {
  appendFileSync(args[1], 'in\\n');
  // Long enough for both to be at it at the same time.
  await new Promise((resolve) => setTimeout(resolve, 10));
  appendFileSync(args[1], 'out\\n');
});`;

/** Starts to wait for the lock; returns once it really waits. */
async function waiting<T>(fn: () => Promise<T>, signal?: AbortSignal): Promise<{ result: Promise<T> }> {
  let onWait = (): void => undefined;
  const waits = new Promise<void>((resolve) => (onWait = resolve));
  const result = withLock(path, fn, { signal, onWait: () => onWait() });
  await Promise.race([waits, result]);
  return { result };
}

test('two processes are never inside at once', async () => {
  const journal = join(folder, 'journal');
  const processes = [runDist(CRITICAL_SECTIONS, path, journal), runDist(CRITICAL_SECTIONS, path, journal)];
  await Promise.all(processes.map((p) => p.ended));
  expect(processes.map((p) => p.stderr())).toEqual(['', '']);
  expect(readFileSync(journal, 'utf8')).toBe('in\nout\n'.repeat(40));
});

test('two calls of one process are never inside at once', async () => {
  const journal = join(folder, 'journal');
  const section = (): Promise<void> =>
    withLock(path, async () => {
      appendFileSync(journal, 'in\n');
      await new Promise((resolve) => setImmediate(resolve));
      appendFileSync(journal, 'out\n');
    });
  await Promise.all(Array.from({ length: 8 }, section));
  expect(readFileSync(journal, 'utf8')).toBe('in\nout\n'.repeat(8));
});

test('the lock of a process killed with -9 passes to the waiting one', async () => {
  const owner = runDist(HOLD, path);
  expect(await owner.nextLine()).toBe('held');
  let killed = false;
  // The kernel frees the lock before we learn of the death: what counts is that it was not free earlier.
  const { result } = await waiting(async () => killed);
  killed = owner.child.kill('SIGKILL');
  await owner.ended;
  expect(await result).toBe(true);
});

test('an abort ends the waiting with its reason and leaves the owner alone', async () => {
  const abort = new AbortController();
  await withLock(path, async () => {
    const { result } = await waiting(async () => 'inside', abort.signal);
    abort.abort(new Error('enough'));
    await expect(result).rejects.toThrow('enough');
  });
});

test('an owner that throws frees the lock', async () => {
  await expect(withLock(path, () => Promise.reject(new Error('failed inside')))).rejects.toThrow(
    'failed inside',
  );
  expect(await withLock(path, async () => 'next')).toBe('next');
});
