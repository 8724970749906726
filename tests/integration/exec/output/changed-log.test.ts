// A log that is deleted or changed under its session: written back, or reported as lost, and never misreported.
import { appendFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { Attachment } from '../../../../exec/attach/attachment';
import { commandView } from '../../../../exec/host/command-view';
import { nextPiece, readLog } from '../../../../exec/output/log-reader';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { until } from '../../../helpers/until';
import { endWithoutTrace, holderOf, logOf } from '../session-processes';

let t: TestHost;
beforeEach(() => (t = testHost()));
afterEach(() => endWithoutTrace(t));

const NUMBERS = Array.from({ length: 3_000 }, (_, i) => `${i + 1}\r\n`).join('');

test.each([
  ['deleted', (log: string) => rmSync(log)],
  ['moved away', (log: string) => renameSync(log, `${log}.old`)],
])(
  'a log that is %s under a running session is made whole again, and no byte is lost',
  async (_how, harm) => {
    await t.run('seq 1000; until [ -e go ]; do sleep 0.02; done; seq 1001 3000', {
      yield: { firstOutputMs: 50, betweenOutputMs: 50 },
    });
    await until(() => logOf(t).toString().endsWith('\r\n1000\r\n'));
    harm(t.host.logPath(t.ref));
    expect((await t.host.status(t.ref)).degraded).toBeNull();
    expect(logOf(t).toString()).toMatch(/^1\r\n2\r\n.*1000\r\n$/s);
    harm(t.host.logPath(t.ref));

    writeFileSync(`${t.cwd}/go`, '');
    expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 })).toMatchObject({ exitCode: 0 });
    expect(logOf(t).toString()).toBe(NUMBERS);
  },
);

/** All output page by page, as a reader starting at 0 gets it. */
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
  'a log that is %s under a running session is reported as truncated: lost bytes are counted, and all others keep their offsets',
  async (_how, left) => {
    const code = 'seq 1000; until [ -e go ]; do sleep 0.02; done; seq 1001 3000; (exit 3)';
    await t.run(code, { yield: { firstOutputMs: 50, betweenOutputMs: 50 } });
    await until(() => logOf(t).length === BEGUN);
    const person = await Attachment.open(t.dataDir, t.ref, { typist: null, size: null });
    truncateSync(t.host.logPath(t.ref), left);
    writeFileSync(`${t.cwd}/go`, '');
    const end = await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 });
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
    // Another holder knows what was lost, too.
    await t.host.close(t.ref, 'enough');
    expect(await t.run('echo last')).toMatchObject({ output: 'last\n', epoch: 2 });
    expect(await pages()).toBe(`${end.output}next\nlast\n`);
  },
);

test('a log that is repeatedly truncated in the middle of a flood shows no byte at another offset than its own', async () => {
  const log = t.host.logPath(t.ref);
  const flood = 'n=0; until [ -e enough ]; do seq -f %08g $((n * 5000)) $((n++ * 5000 + 4999)); done';
  await t.run(flood, { yield: { maxMs: 0 } });
  for (let cuts = 0; cuts < 5; cuts++) {
    await until(() => statSync(log).size > 0);
    const { size } = statSync(log);
    truncateSync(log, Math.floor(size / 2));
    await until(() => statSync(log).size > size);
  }
  writeFileSync(`${t.cwd}/enough`, '');
  const end = await t.until({ kind: 'exit', from: 0, timeoutMs: 20_000 });
  expect(end.exitCode).toBe(0);
  expect(end.omittedBytes).toBeGreaterThan(0);
  const whole = Buffer.from(
    Array.from({ length: end.to / 10 }, (_, i) => `${String(i).padStart(8, '0')}\r\n`).join(''),
  );
  expect(end.to).toBe(whole.length);
  let kept = 0;
  for (let at = 0; at < end.to;) {
    const piece = nextPiece(log, at, end.to);
    if (!piece.missing) {
      expect(piece.data.equals(whole.subarray(at, piece.to))).toBe(true);
      kept += piece.data.length;
    }
    at = piece.to;
  }
  expect(kept).toBeGreaterThan(0);
});

test('a log that others have written to drops foreign bytes', async () => {
  await t.run('echo one');
  appendFileSync(t.host.logPath(t.ref), 'not printed\n');
  await t.run('echo two');
  expect(logOf(t).toString()).toBe('one\r\ntwo\r\n');
});

test.each([
  ['truncated', (log: string) => truncateSync(log, 4)],
  ['deleted', (log: string) => rmSync(log)],
])(
  'a log that is %s while no holder lives is reported as such, and the next command begins after its end',
  async (how, harm) => {
    await t.run('echo one; echo two');
    process.kill(holderOf(t), 'SIGKILL');
    await until(() => !t.host.isOpen(t.ref));
    harm(t.host.logPath(t.ref));
    const left = how === 'truncated' ? 4 : 0;
    const told = `[${10 - left} bytes are lost: the log was truncated or deleted]\n`;
    const view = await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 });
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
