// S10: 100 MB of output cost bounded memory, hold up no other session, and are all there by offset. Above its limit a
// log takes no more disk space, and readers learn what they miss.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Attachment } from '../../../../exec/attach/attachment';
import { commandView } from '../../../../exec/host/command-view';
import { LogQuota, logUsage } from '../../../../exec/host/log-quota';
import { logEnd, nextPiece, type Piece } from '../../../../exec/output/log-reader';
import { runDist } from '../../../helpers/engines/dist-process';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { until } from '../../../helpers/until';
import { endWithoutTrace, holderOf, otherSession } from '../session-processes';

const MB = 1024 * 1024;
const LINES = 1_500_000;
/** Low enough to catch a leak of the flood, high enough to ignore garbage collector variation. */
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
  const flooding = Date.now();
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
  // Kept waiting until the flood was over, one answer would take all of its time.
  expect(slowest).toBeLessThan(Math.max(4_000, 0.9 * (Date.now() - flooding)));
  const { command } = await t.host.status(t.ref);
  expect(command).toMatchObject({ exitCode: 9, from: 0, to: LINES * line(1).length });
  expect((command?.to ?? 0) / MB).toBeGreaterThan(95);
  expect(peak - before).toBeLessThan(GROWTH_BYTES);

  // In a separate process: this one's allocations for the comparison are not the reader's.
  const reader = runDist(
    `const { readLog } = load('exec/output/log-reader');
     const [log, to, page] = [args[0], Number(args[1]), Number(args[2])];
     const hash = require('node:crypto').createHash('sha256');
     require('node:v8').setFlagsFromString('--expose-gc');
     const collect = require('node:vm').runInNewContext('gc');
     const before = process.memoryUsage().rss;
     let peak = before;
     for (let from = 0; from < to; from += page) {
       hash.update(readLog(log, from, Math.min(from + page, to)));
       // What it keeps counts, not when the collector runs.
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
  expect(Date.now() - began).toBeLessThan(3_000);
  expect(view.output.startsWith(line(1_000_001).replace('\r', ''))).toBe(true);
  expect(view).toMatchObject({ from, to: from + 4_096, omittedBytes: 0 });
});

describe('a session that never stops printing', () => {
  const LIMIT = 2 * MB;
  const FOR_EVER = `for ((;;)); do seq -f 'line %060.0f' 1 1000000000; done`;
  const LENGTH = line(1).length;
  let limited: TestHost;
  beforeAll(async () => {
    limited = testHost({ logBytes: LIMIT });
    await limited.run(FOR_EVER, { yield: { maxMs: 200 } });
  });
  afterAll(() => endWithoutTrace(limited));

  const log = (): string => limited.host.logPath(limited.ref);
  const onDisk = (): number => logUsage(limited.dataDir)[0]?.bytes ?? NaN;
  /** What was printed at an offset: each line has its number, and the same length. */
  function expectTruth({ data, from }: Pick<Piece, 'data' | 'from'>): void {
    const first = Math.floor(from / LENGTH);
    const lines = Array.from({ length: Math.ceil(data.length / LENGTH) + 1 }, (_, n) => line(first + n + 1));
    const at = from - first * LENGTH;
    expect(data.toString()).toBe(lines.join('').slice(at, at + data.length));
  }

  /** The first piece that is there, at an offset or behind it. */
  function keptFrom(from: number): Piece {
    const piece = nextPiece(log(), from, from + MB);
    return piece.missing ? keptFrom(piece.to) : piece;
  }

  test('takes no more disk space than its limit, and what is kept stays at its offset', async () => {
    await until(() => {
      expect(onDisk()).toBeLessThanOrEqual(LIMIT);
      return logEnd(log()) > 10 * LIMIT;
    });
    expect(onDisk()).toBeGreaterThan(LIMIT / 2);
    for (let n = 0; n < 20; n++) {
      const end = logEnd(log());
      const piece = keptFrom(n % 2 ? 0 : end - MB);
      expect(piece.data.length).toBeGreaterThan(0);
      expectTruth(piece);
    }
  });

  test('keeps running, and its views begin where the log does and say how much is not kept', async () => {
    const snapshot = await limited.host.status(limited.ref);
    const view = await commandView({ ref: limited.ref, logPath: log(), snapshot, from: null });
    expect(view).toMatchObject({ state: 'running', degraded: null, droppedBytes: view.from });
    expect(view.from).toBeGreaterThan(8 * LIMIT);
    const [, bytes, beginning] = /^\[(\d+) bytes dropped by .* at offset (\d+)\]\n/.exec(view.output) ?? [];
    expect(Number(bytes)).toBe(view.from);
    // Later, where all that was there at the time of the snapshot is dropped already.
    expect(Number(beginning)).toBeGreaterThanOrEqual(view.from);
    expect((await limited.run('echo here', { ref: otherSession(limited, 1) })).output).toBe('here\n');
  });

  test('tells a person at its terminal what they missed, and shows the rest at its offset', async () => {
    const person = await Attachment.open(limited.dataDir, limited.ref, { typist: null, size: null });
    let missed = 0;
    let at = 0;
    let pieces = 0;
    for await (const change of person.changes(0)) {
      if (change.kind === 'state') continue;
      if (change.kind === 'output') expectTruth(change);
      else {
        expect(change.missing?.cause).toBe('dropped');
        missed += change.to - change.from;
      }
      // Nothing appears twice, and nothing is missing without a note.
      expect(change.from).toBe(at);
      at = change.to;
      if (++pieces === 6) break;
    }
    expect(missed).toBeGreaterThan(8 * LIMIT);
    person.close();
  });

  test('makes room when the logs of its host take too much together, and keeps its offsets', async () => {
    const options = { dataDir: limited.dataDir, host: 'local', maxBytes: LIMIT / 2 };
    const quota = new LogQuota({ ...options, isClosed: (ref) => limited.host.isClosed(ref) });
    await until(() => onDisk() > (LIMIT * 3) / 4);
    const end = logEnd(log());
    await quota.look();
    // More is coming all the time.
    expect(keptFrom(0).from).toBeGreaterThan(end - (LIMIT * 3) / 4);
    await until(() => logEnd(log()) > end + 2 * LIMIT);
    expectTruth(keptFrom(0));
    await limited.host.reset(limited.ref, { id: 'enough', reason: null, by: 'reset' });
    const { command } = await limited.host.status(limited.ref);
    expect(command).toMatchObject({ to: logEnd(log()), killedBy: { by: 'reset' } });
    expect((await limited.run('echo next')).output).toBe('next\n');
  });
});
