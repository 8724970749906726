// S12, S14: the log holds every byte from the terminal, whichever program printed it.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandView } from '../../../../exec/host/command-view';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace, eventually, logOf, otherSession } from '../session-processes';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

const ALL_BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

test.each([
  ['every byte from 0x00 to 0xff', ALL_BYTES],
  ['64 KB of noise', randomBytes(65_536)],
  ['half of a character', Buffer.from('日本').subarray(0, 4)],
  ['only continuation bytes', Buffer.alloc(1_000, 0x80)],
  ['overlong and surrogate sequences', Buffer.from([0xc0, 0x80, 0xed, 0xa0, 0x80, 0xf8, 0x88, 0xff, 0xfe])],
  ['what looks like the beginning of a fence', Buffer.from('\x1b]7717;0123456789abcde\x1b]7717;\x1b]')],
  ['an escape at its end', Buffer.from('abc\x1b')],
])('%s: the log is byte-identical and the view does not throw', async (_name, bytes) => {
  const file = join(t.cwd, 'bytes');
  writeFileSync(file, bytes);
  const view = await t.run(`stty -opost; cat '${file}'; stty opost`);
  expect(view).toMatchObject({ state: 'exited', exitCode: 0, output: expect.any(String) as string });
  // The view may leave a piece of a character for its next page; the record has the end of the command.
  const { command } = await t.host.status(t.ref);
  expect(
    logOf(t)
      .subarray(view.from, command?.to ?? 0)
      .toString('hex'),
  ).toBe(bytes.toString('hex'));
});

test('a program in raw mode writes every byte as it is, and the terminal is its own again afterwards', async () => {
  writeFileSync(join(t.cwd, 'bytes'), Buffer.concat([ALL_BYTES, ALL_BYTES.toReversed()]));
  const view = await t.run('settings=$(stty -g); stty raw; cat bytes; stty "$settings"');
  const { command } = await t.host.status(t.ref);
  expect(logOf(t).subarray(view.from, command?.to ?? 0)).toEqual(
    Buffer.concat([ALL_BYTES, ALL_BYTES.toReversed()]),
  );
  expect((await t.run('printf "a\nb\n"')).output).toBe('a\nb\n');
});

test('a character that arrives in two pieces, late, is one character', async () => {
  const view = await t.run(`printf '\\xe6\\x97'; sleep 0.1; printf '\\xa5\\n'`);
  expect(view.output).toBe('日\n');
});

test('every cut of a text into pages adds up to the text, whatever characters lie at the cuts', async () => {
  const text = 'aé日🎉'.repeat(40);
  const { from, to } = await t.run(`printf %s '${text}'`);
  for (const maxBytes of [4, 5, 7, 11, 64]) {
    let shown = '';
    for (let at = from; at < to;) {
      const snapshot = await t.host.status(t.ref);
      const page = await commandView({
        ref: t.ref,
        logPath: t.host.logPath(t.ref),
        snapshot,
        from: at,
        maxBytes,
      });
      shown += page.output;
      at = page.to;
    }
    expect(shown).toBe(text);
  }
});

test('the first command of 30 fresh shells has all of its output', async () => {
  const ref = otherSession(t, 2);
  for (let i = 0; i < 30; i++) {
    await t.run('exit', { ref });
    expect((await t.run('echo first', { ref })).output).toBe('first\n');
  }
});

test('a background job that outlives its command keeps printing into the log', async () => {
  const go = join(t.cwd, 'go');
  const view = await t.run(`(until [ -e '${go}' ]; do sleep 0.02; done; echo late) & echo started`);
  expect(view).toMatchObject({
    state: 'exited',
    exitCode: 0,
    output: expect.stringContaining('started\n') as string,
  });
  expect(logOf(t).subarray(view.from).toString()).not.toContain('late');
  writeFileSync(go, '');
  const log = await eventually(
    () => logOf(t).subarray(view.to).toString(),
    (text) => text.includes('late'),
  );
  expect(log).toContain('late\r\n');
});

test('a background job prints into the log after its shell has ended too', async () => {
  const ref = otherSession(t, 3);
  const go = join(t.cwd, 'go-on');
  const view = await t.run(`(until [ -e '${go}' ]; do sleep 0.02; done; echo orphan) & disown; exit 2`, {
    ref,
  });
  expect(view).toMatchObject({ state: 'exited', exitCode: 2 });
  writeFileSync(go, '');
  const log = await eventually(
    () => logOf(t, ref).subarray(view.from).toString(),
    (text) => text.includes('orphan'),
  );
  expect(log).toContain('orphan\r\n');
});

test('background jobs of several commands print into the log side by side, each line once', async () => {
  const ref = otherSession(t, 4);
  const begun = await t.run(
    'for j in a b c; do (for i in {1..50}; do echo "$j$i"; sleep 0.002; done) & done; disown -a',
    { ref },
  );
  await t.run('echo between', { ref });
  const lines = await eventually(
    () =>
      logOf(t, ref)
        .subarray(begun.from)
        .toString()
        .split('\r\n')
        .filter((line) => /^[abc]\d+$/.test(line)),
    (found) => found.length >= 150,
  );
  const each = ['a', 'b', 'c'].flatMap((j) => Array.from({ length: 50 }, (_, i) => `${j}${i + 1}`));
  expect([...lines].sort()).toEqual(each.sort());
});

test.each([
  ['tee into a file and the terminal', 'seq 3 | tee copy >/dev/null; cat copy', '1\n2\n3\n'],
  ['a whole shell behind tee', 'exec > >(tee whole); echo to both; exec >/dev/tty', 'to both\n'],
  ['a job that holds the pipe of another', '(sleep 600 & echo piped) | cat & echo here', 'here\n'],
  ['a process substitution', 'echo through > >(tee)', 'through\n'],
  ['a background holder of the output', 'sleep 600 & echo here', 'here\n'],
  ['a detached holder of the output', 'setsid sleep 600 & echo here', 'here\n'],
  ['a coprocess', 'coproc cat; echo here', 'here\n'],
])('%s does not hang the command', async (_name, code, output) => {
  const view = await t.run(code, { yield: { maxMs: 5_000 } });
  expect(view).toMatchObject({ state: 'exited', exitCode: 0 });
  const log = await eventually(
    () => logOf(t).subarray(view.from).toString(),
    (text) => text.includes(output.trim()),
  );
  expect(log).toContain(output.replaceAll('\n', '\r\n'));
});
