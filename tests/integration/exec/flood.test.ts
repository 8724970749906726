// S10: 100 MB of output cost bounded memory, hold up no other session, and are all there by offset.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { commandView } from '../../../exec/command-view';
import { runDist } from '../../helpers/dist-process';
import { testHost, type TestHost } from '../../helpers/session-host';
import { endWithoutTrace, holderOf, otherSession } from './session-processes';

const MB = 1024 * 1024;
const LINES = 1_500_000;
/** Below it a leak of the flood cannot hide, above it no garbage collector's mood. */
const GROWTH_BYTES = 64 * MB;

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

const residentBytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024;

/** What `seq -f` prints, as the terminal gives it. */
const line = (n: number): string => `line ${String(n).padStart(60, '0')}\r\n`;

test('100 MB are bounded in the holder and in its readers, other sessions live, and each byte is read by offset', async () => {
  const other = otherSession(t, 1);
  await t.run('KEPT=1', { ref: other });
  await t.run(':');
  const holder = holderOf(t);
  const before = residentBytes(holder);
  await t.host.run(t.ref, {
    id: 'flood',
    runtime: 'terminal',
    code: `seq -f 'line %060.0f' 1 ${LINES}; (exit 9)`,
  });
  let peak = 0;
  let answers = 0;
  let slowest = 0;
  for (let ended = false; !ended;) {
    const began = Date.now();
    expect((await t.run('echo $KEPT', { ref: other })).output).toBe('1\n');
    const snapshot = await t.host.status(t.ref);
    const view = await commandView({ ref: t.ref, logPath: t.host.logPath(t.ref), snapshot, from: null });
    slowest = Math.max(slowest, Date.now() - began);
    expect(view.output.length).toBeLessThan(20_000);
    peak = Math.max(peak, residentBytes(holder));
    answers += 1;
    ended = view.state === 'exited';
  }
  expect(answers).toBeGreaterThan(3);
  expect(slowest).toBeLessThan(2_000);
  const { command } = await t.host.status(t.ref);
  expect(command).toMatchObject({ exitCode: 9, from: 0, to: LINES * line(1).length });
  expect((command?.to ?? 0) / MB).toBeGreaterThan(95);
  expect(peak - before).toBeLessThan(GROWTH_BYTES);

  // In a process of its own: what this one makes for the comparison is no reader's.
  const reader = runDist(
    `const { readLog } = load('exec/log-reader');
     const [log, to, page] = [args[0], Number(args[1]), Number(args[2])];
     const hash = require('node:crypto').createHash('sha256');
     require('node:v8').setFlagsFromString('--expose-gc');
     const collect = require('node:vm').runInNewContext('gc');
     const before = process.memoryUsage().rss;
     let peak = before;
     for (let from = 0; from < to; from += page) {
       hash.update(readLog(log, from, Math.min(from + page, to)));
       // What it keeps counts, and not when the collector comes.
       collect();
       peak = Math.max(peak, process.memoryUsage().rss);
     }
     console.log(JSON.stringify({ hash: hash.digest('hex'), grown: peak - before }));`,
    t.host.logPath(t.ref),
    String(command?.to),
    String(MB),
  );
  const expected = createHash('sha256');
  for (let n = 1; n <= LINES; n += 1_000) {
    expected.update(Array.from({ length: 1_000 }, (_, i) => line(n + i)).join(''));
  }
  const read = JSON.parse(await reader.nextLine()) as { hash: string; grown: number };
  expect(read.hash).toBe(expected.digest('hex'));
  expect(read.grown).toBeLessThan(GROWTH_BYTES);
}, 60_000);

test('a page from the middle of 100 MB costs no more than its size', async () => {
  const snapshot = await t.host.status(t.ref);
  const from = 1_000_000 * line(1).length;
  const began = Date.now();
  const view = await commandView({
    ref: t.ref,
    logPath: t.host.logPath(t.ref),
    snapshot,
    from,
    maxBytes: 4_096,
  });
  expect(Date.now() - began).toBeLessThan(500);
  expect(view.output.startsWith(line(1_000_001).replace('\r', ''))).toBe(true);
  expect(view).toMatchObject({ from, to: from + 4_096, omittedBytes: 0 });
});
