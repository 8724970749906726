// Programs that ask their terminal get one answer: from the session while no one is attached, else from the person's.
// What a program leaves switched on in the terminal is off when the next command begins.
import { Attachment } from '../../../../exec/attach/attachment';
import type { CommandView } from '../../../../contracts/sessions/session';
import { logEnd, readWhole } from '../../../../exec/output/log-reader';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace } from '../session-processes';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

const PATIENT = { firstOutputMs: 30_000, betweenOutputMs: 30_000, maxMs: 30_000, promptMs: 30_000 };
const run = (code: string): Promise<CommandView> => t.run(code, { yield: PATIENT });

/** Python that asks in raw mode, and prints all that comes within a second after the first answer. */
const ask = (question: string, wait = 5): string =>
  `python3 -c '
import os, select, sys, termios, tty
saved = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, b"${question}")
got = b""
while select.select([0], [], [], 1 if got else ${wait})[0]: got += os.read(0, 100)
termios.tcsetattr(0, 0, saved)
print(repr(got))'`;

// indexable-inc/index#3103, shellinabox/shellinabox#494, continuous-delphi/delphi-terminal#93
test('bash reads the place of the cursor', async () => {
  const view = await run(
    `printf 'one\\ntwo\\n   '; IFS=';' read -rsdR -t 20 -p $'\\e[6n' row col; echo "rc=$? \${row#*[} $col"`,
  );
  expect(view.output).toMatch(/rc=0 \d+ 4\n$/);
});

test.each([
  ['status', '\\x1b[5n', "b'\\x1b[0n'"],
  ['attributes', '\\x1b[c', /^b'\\x1b\[\?[\d;]+c'$/],
  ['attributes, the second kind', '\\x1b[>c', /^b'\\x1b\[>[\d;]+c'$/],
  ['size', '\\x1b[18t', "b'\\x1b[8;40;120t'"],
  ['mode', '\\x1b[?25$p', /^b'\\x1b\[\?25;\d\$y'$/],
  // TragicWarrior/libvterm#191
  ['place behind a question about colours', '\\x1b]11;?\\x07\\x1b[6n', /^b'\\x1b\[\d+;\d+R'$/],
  ['two at once', '\\x1b[5n\\x1b[5n', "b'\\x1b[0n\\x1b[0n'"],
])('a question about %s gets one answer', async (_what, question, answer) => {
  const { output } = await run(ask(question));
  const last = output.trim().split('\n').at(-1) ?? '';
  if (typeof answer === 'string') expect(last).toBe(answer);
  else expect(last).toMatch(answer);
});

test('a file with a question in it types nothing, then or later', async () => {
  await run(`printf 'x\\033[6ny\\n' > asks.txt; cat asks.txt; sleep 2`);
  expect(await run('read -r -t 1 line; echo "[$line]"')).toMatchObject({ output: '[]\n' });
});

test('a person whose terminal answers is asked alone', async () => {
  await run('true');
  const typist = { who: 'ann', take: false, answers: true };
  const person = await Attachment.open(t.dataDir, t.ref, { typist, size: null });
  try {
    expect((await run(ask('\\x1b[5n', 2))).output).toContain("b''");
  } finally {
    person.close();
  }
  expect((await run(ask('\\x1b[5n'))).output).toContain("b'\\x1b[0n'");
});

describe('the next command', () => {
  const answered = async (): Promise<CommandView> => {
    expect(await t.run(`read -p 'say: ' x; echo "got $x"`)).toMatchObject({ state: 'waiting_input' });
    await t.host.input(t.ref, { id: `${Math.random()}`, text: 'words', keys: [] });
    return t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 });
  };

  // 1jehuang/jcode#987
  test.each(['stty raw -echo -opost', 'stty raw', 'stty -icrnl', 'stty -opost', 'stty cbreak -echo'])(
    'reads a line after `%s`',
    async (code) => {
      const usual = (await run('stty -g </dev/tty')).output;
      await run(code);
      expect((await answered()).output).toContain('got words\n');
      expect((await run('stty -g </dev/tty')).output).toBe(usual);
    },
  );

  test('begins on the first screen, with letters and a cursor', async () => {
    await run(`printf '\\033[?1049h\\033[?25l\\033(0\\033[31mqqq'`);
    const before = logEnd(t.host.logPath(t.ref));
    const view = await run('echo qqq');
    expect(view.output).toBe('qqq\n');
    const log = t.host.logPath(t.ref);
    expect(readWhole(log, before, view.from).toString()).toBe('\x1b[?1049l\x1b[?25h\x1b(B\x1b[m');
    const again = logEnd(log);
    expect((await run('true')).from).toBe(again);
  });
});
