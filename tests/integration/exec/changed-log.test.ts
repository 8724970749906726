// A log that somebody deletes or changes under its session: written back, or told as lost, and never told wrongly.
import { appendFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { Attachment } from '../../../exec/attachment';
import { commandView } from '../../../exec/command-view';
import { nextPiece, readLog } from '../../../exec/log-reader';
import { testHost, type TestHost } from '../../helpers/session-host';
import { until } from '../../helpers/until';
import { endWithoutTrace, holderOf, logOf } from './session-processes';

let t: TestHost;
beforeEach(() => (t = testHost()));
afterEach(() => endWithoutTrace(t));

const NUMBERS = Array.from({ length: 3_000 }, (_, i) => `${i + 1}\r\n`).join('');

test.each([
  ['deleted', (log: string) => rmSync(log)],
  ['moved away', (log: string) => renameSync(log, `${log}.old`)],
])('a log that is %s under a running session is whole again, and no byte is lost', async (_how, harm) => {
  await t.run('seq 1000; until [ -e go ]; do sleep 0.02; done; seq 1001 3000', {
    yield: { firstOutputMs: 50, betweenOutputMs: 50 },
  });
  await until(() => logOf(t).toString().endsWith('\r\n1000\r\n'));
  harm(t.host.logPath(t.ref));
  expect((await t.host.status(t.ref)).degraded).toBeNull();
  expect(logOf(t).toString()).toMatch(/^1\r\n2\r\n.*1000\r\n$/s);
  harm(t.host.logPath(t.ref));

  writeFileSync(`${t.cwd}/go`, '');
  expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 5_000 })).toMatchObject({ exitCode: 0 });
  expect(logOf(t).toString()).toBe(NUMBERS);
});

/** All of the output by pages, as a reader gets it who begins at 0. */
async function pages(): Promise<string> {
  const snapshot = await t.host.status(t.ref);
  let text = '';
  for (let from = 0; from < snapshot.end;) {
    const shown = { ref: t.ref, logPath: t.host.logPath(t.ref), snapshot, from, maxBytes: 1_000 };
    const view = await commandView(shown);
    text += view.output;
    from = view.to;
  }
  return text;
}
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, i) => `${from + i}\n`).join('');
const BEGUN = lines(1, 1_000).length + 1_000;

test.each([
  ['emptied', 0],
  ['cut off in its midst', 303],
])(
  'a log that is %s under a running session is told as truncated: what is lost is counted, and all else keeps its offset',
  async (_how, left) => {
    const code = 'seq 1000; until [ -e go ]; do sleep 0.02; done; seq 1001 3000; (exit 3)';
    await t.run(code, { yield: { firstOutputMs: 50, betweenOutputMs: 50 } });
    await until(() => logOf(t).length === BEGUN);
    const person = await Attachment.open(t.dataDir, t.ref, { typist: null, size: null });
    truncateSync(t.host.logPath(t.ref), left);
    writeFileSync(`${t.cwd}/go`, '');
    const end = await t.until({ kind: 'exit', from: 0, timeoutMs: 5_000 });
    const note = `[${BEGUN - left} bytes are lost: the log was truncated or deleted]\n`;
    const kept = NUMBERS.slice(0, left).replaceAll('\r', '');
    expect(end).toMatchObject({ exitCode: 3, from: 0, to: NUMBERS.length, degraded: null });
    expect(end.output).toBe(`${kept}${note}${lines(1_001, 3_000)}`);
    expect(end.omittedBytes).toBe(BEGUN - left);
    expect(await pages()).toBe(end.output);
    expect((await person.read(0, NUMBERS.length)).toString()).toBe(
      `${NUMBERS.slice(0, left)}\r\n${note.trim()}\r\n${NUMBERS.slice(BEGUN)}`,
    );
    expect(readLog(t.host.logPath(t.ref), BEGUN, NUMBERS.length).toString()).toBe(NUMBERS.slice(BEGUN));
    person.close();

    expect(await t.run('echo next')).toMatchObject({ output: 'next\n', from: NUMBERS.length });
    // Another holder knows what is lost, too.
    await t.host.close(t.ref, 'enough');
    expect(await t.run('echo last')).toMatchObject({ output: 'last\n', epoch: 2 });
    expect(await pages()).toBe(`${end.output}next\nlast\n`);
  },
);

test('a log that is truncated in the midst of a flood, again and again, shows no byte at another offset than its own', async () => {
  const log = t.host.logPath(t.ref);
  const whole = Buffer.from(Array.from({ length: 200_000 }, (_, i) => `${i + 100_000}\r\n`).join(''));
  await t.run('seq 100000 299999', { yield: { maxMs: 0 } });
  let isOver = false;
  const exit = t.until({ kind: 'exit', from: 0, timeoutMs: 20_000 }).finally(() => (isOver = true));
  let cuts = 0;
  for (; !isOver; cuts += 1) {
    const { size } = statSync(log);
    truncateSync(log, Math.floor(size / 2));
    await until(() => isOver || statSync(log).size > size);
  }
  expect(cuts).toBeGreaterThan(1);
  const { to, exitCode, omittedBytes } = await exit;
  expect([to, exitCode]).toEqual([whole.length, 0]);
  expect(omittedBytes).toBeGreaterThan(0);
  let kept = 0;
  for (let at = 0; at < to;) {
    const piece = nextPiece(log, at, to);
    if (!piece.missing) {
      expect(piece.data.equals(whole.subarray(at, piece.to))).toBe(true);
      kept += piece.data.length;
    }
    at = piece.to;
  }
  expect(kept).toBeGreaterThan(0);
});

test('a log that others have written to loses what is not its own', async () => {
  await t.run('echo one');
  appendFileSync(t.host.logPath(t.ref), 'not printed\n');
  await t.run('echo two');
  expect(logOf(t).toString()).toBe('one\r\ntwo\r\n');
});

test.each([
  ['truncated', (log: string) => truncateSync(log, 4)],
  ['deleted', (log: string) => rmSync(log)],
])(
  'a log that is %s while no holder lives is told as that, and the next command begins behind its end',
  async (how, harm) => {
    await t.run('echo one; echo two');
    process.kill(holderOf(t), 'SIGKILL');
    await until(() => !t.host.isOpen(t.ref));
    harm(t.host.logPath(t.ref));
    const left = how === 'truncated' ? 4 : 0;
    const told = `[${10 - left} bytes are lost: the log was truncated or deleted]\n`;
    const view = await t.until({ kind: 'exit', from: 0, timeoutMs: 1_000 });
    expect(view).toMatchObject({
      from: 0,
      to: 10,
      exitCode: 0,
      output: `${left > 0 ? 'one\n' : ''}${told}`,
    });
    if (how === 'deleted') expect(view.degraded).toMatch(/the log .* was deleted or moved away/);
    expect(await t.run('echo three')).toMatchObject({ output: 'three\n', from: 10, degraded: null });
    expect(await pages()).toBe(`${view.output}three\n`);
  },
);
