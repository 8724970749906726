// The logs of all sessions of a host within one limit: which lose what, and that offsets stay right.
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionRef } from '../../../contracts/ids';
import { OutputLog } from '../../../exec/holder/output-log';
import { LogQuota, logUsage } from '../../../exec/host/log-quota';
import { logEnd, logStart, readLog } from '../../../exec/output/log-reader';
import { segmentPath } from '../../../exec/output/log-segments';
import { sessionPaths } from '../../../exec/session-paths';

const KB = 1_000;
let dataDir: string;
let open: Set<number>;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-logs-'));
  open = new Set();
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const refOf = (session: number, host = 'local'): SessionRef => ({ agent: 'a', host, session });
const logOf = (session: number, host?: string): string => sessionPaths(dataDir, refOf(session, host)).log;

/** A log of parts of 10 KB, last written this many minutes ago. */
function session(number: number, bytes: number, minutesAgo = 0, host?: string): void {
  const log = logOf(number, host);
  mkdirSync(join(log, '..'), { recursive: true });
  const at = new Date(Date.now() - minutesAgo * 60_000);
  for (let from = 0; from < bytes; from += 10 * KB) {
    const path = segmentPath(log, from);
    writeFileSync(path, Buffer.alloc(Math.min(10 * KB, bytes - from), `${number}`));
    utimesSync(path, at, at);
  }
}

const quota = (maxBytes: number): LogQuota =>
  new LogQuota({ dataDir, host: 'local', maxBytes, isClosed: ({ session: number }) => !open.has(number) });

const kept = (...numbers: number[]): number[] =>
  numbers.map((number) => logEnd(logOf(number)) - logStart(logOf(number)));

test('nothing is removed while all of them are within the limit', async () => {
  open.add(1);
  session(1, 60 * KB);
  session(2, 40 * KB);
  await quota(100 * KB).look();
  expect(kept(1, 2)).toEqual([60 * KB, 40 * KB]);
});

test('of closed sessions the log goes whose session ended longest ago', async () => {
  for (const [number, minutesAgo] of [
    [1, 10],
    [2, 30],
    [3, 20],
  ] as const)
    session(number, 40 * KB, minutesAgo);
  await quota(100 * KB).look();
  expect(kept(1, 2, 3)).toEqual([40 * KB, 0, 40 * KB]);
});

test('of open sessions the largest loses its oldest part, and closed ones keep half of the space', async () => {
  open = new Set([1, 2]);
  session(1, 100 * KB);
  session(2, 20 * KB);
  session(3, 45 * KB, 10);
  await quota(100 * KB).look();
  expect(kept(1, 2, 3)).toEqual([30 * KB, 20 * KB, 45 * KB]);
  expect(logEnd(logOf(1))).toBe(100 * KB);
});

test('many closed ones take no more than half of the space from open ones', async () => {
  open.add(1);
  session(1, 45 * KB);
  for (let number = 2; number < 12; number++) session(number, 10 * KB, number);
  await quota(100 * KB).look();
  expect(kept(1)).toEqual([45 * KB]);
  expect(kept(2, 6, 7, 11)).toEqual([10 * KB, 10 * KB, 0, 0]);
});

test('a session whose log was removed continues after the offset at which it ended', async () => {
  session(1, 40 * KB, 10);
  session(2, 40 * KB);
  await quota(50 * KB).look();
  expect([logStart(logOf(1)), logEnd(logOf(1))]).toEqual([40 * KB, 40 * KB]);
  expect(() => readLog(logOf(1), 0, 10)).toThrow('got 0, allowed 40000 to 40000');
  const log = new OutputLog(logOf(1));
  log.append(Buffer.from('more'), () => undefined);
  expect(log.end).toBe(40 * KB + 4);
  expect(readLog(logOf(1), 40 * KB, 50 * KB).toString()).toBe('more');
});

test('a session opened during the host’s check keeps its log', async () => {
  session(1, 40 * KB, 10);
  let looks = 0;
  // Closed when it is looked at, and not any more when its turn comes.
  const isClosed = (): boolean => ++looks === 1;
  await new LogQuota({ dataDir, host: 'local', maxBytes: KB, isClosed }).look();
  expect(looks).toBe(2);
  expect(kept(1)).toEqual([40 * KB]);
});

test('what an open session writes now stays, and logs of other hosts are theirs', async () => {
  open.add(1);
  session(1, 10 * KB);
  session(2, 40 * KB, 10, 'pi');
  await quota(KB).look();
  expect(kept(1)).toEqual([10 * KB]);
  expect(existsSync(logOf(2, 'pi'))).toBe(true);
});

test('a session that grows between two looks is seen at the second', async () => {
  const looks = quota(50 * KB);
  session(1, 10 * KB, 10);
  session(2, 30 * KB);
  await looks.look();
  session(1, 40 * KB, 10);
  await looks.look();
  expect(kept(1, 2)).toEqual([0, 30 * KB]);
});

test('the usage of a data folder is reported for each host', () => {
  session(1, 30 * KB);
  session(2, 20 * KB);
  session(3, 10 * KB, 0, 'pi');
  const usage = logUsage(dataDir).sort((a, b) => b.bytes - a.bytes);
  expect(usage).toEqual([
    { host: 'local', sessions: 2, bytes: 50 * KB, largest: { ref: refOf(1), bytes: 30 * KB } },
    { host: 'pi', sessions: 1, bytes: 10 * KB, largest: { ref: refOf(3, 'pi'), bytes: 10 * KB } },
  ]);
});
