// What reaches the person's terminal, whatever its source.
import { Writable } from 'node:stream';
import { draw, guardOutput, harmless, writingBy } from '../../../cli/terminal/guarded-output';
import { reportError } from '../../../cli/print/report-error';
import { factsOf } from '../../../cli/print/view-facts';
import { ERROR_CODES, HoldfastError, type ErrorFacts } from '../../../contracts/errors/holdfast-error';
import { runDist } from '../../helpers/engines/dist-process';
import { VIEW } from '../../helpers/hostile/hostile-answers';
import { active, hostile, HOSTILE, HOSTILE_NAME, MARK } from '../../helpers/hostile/hostile-texts';

interface Guarded {
  stream: NodeJS.WriteStream;
  written: () => string;
}

function guarded(isTTY: boolean): Guarded {
  let text = '';
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => ((text += chunk.toString()), done()),
  });
  const guarded = Object.assign(stream, { isTTY }) as unknown as NodeJS.WriteStream;
  guardOutput([guarded]);
  return { stream: guarded, written: () => text };
}

test('a host’s reason for an end is one line of inert text', () => {
  const facts = factsOf(hostile(VIEW, 'untyped'));
  expect(facts).toContain('ended by evil\\u{200b}');
  expect(active(facts, { tty: false })).toBe('');
  expect(facts).not.toContain('\n');
});

test.each([true, false])(
  'everything written to a guarded stream comes out inert, with line ends as they are (a terminal: %s)',
  (isTTY) => {
    const { stream, written } = guarded(isTTY);
    stream.write(`${HOSTILE_NAME.replaceAll('\n', ' ')}\n`);
    stream.write(Buffer.from('\x1b[2J'));
    expect(active(written(), { tty: isTTY })).toBe('');
    expect(written()).toMatch(/^evil\\u\{200b\}.*\n\\u\{1b\}\[2J$/);
  },
);

test('our colours reach a terminal that wants them; what conceals, and all colours elsewhere, are written out', () => {
  expect(harmless('\x1b[31mred\x1b[39m \x1b[1mbold\x1b[22m', true)).toBe(
    '\x1b[31mred\x1b[39m \x1b[1mbold\x1b[22m',
  );
  expect(harmless('\x1b[8m\x1b[30m\x1b[47m\x1b[38;5;0m', true)).not.toContain('\x1b');
  expect(harmless('\x1b[31mred', false)).toBe('\\u{1b}[31mred');
});

test('what draws goes by, and only that', () => {
  const { stream, written } = guarded(true);
  const editor = writingBy(stream, (text) => draw(text, stream));
  draw('\x1b[2J', stream);
  editor.write('\x1b[K');
  expect(editor.isTTY).toBe(true);
  stream.write('\x1b[2J');
  expect(written()).toBe('\x1b[2J\x1b[K\\u{1b}[2J');
});

/** Every property of it is hostile. */
const FACTS = new Proxy<Record<string, string>>({}, { get: () => HOSTILE }) as ErrorFacts;

test.each(ERROR_CODES)('the error %s is inert, whatever it quotes', (code) => {
  for (const [tty, json] of [
    [true, false],
    [false, false],
    [true, true],
  ] as const) {
    const { stream, written } = guarded(tty);
    const stderr = Object.getOwnPropertyDescriptor(process, 'stderr') as PropertyDescriptor;
    Object.defineProperty(process, 'stderr', { value: stream, configurable: true });
    try {
      reportError(HoldfastError.received(code, FACTS), json);
    } finally {
      Object.defineProperty(process, 'stderr', stderr);
    }
    expect(active(written(), { tty })).toBe('');
    if (json) expect(JSON.parse(written())).toMatchObject({ error: { code } });
    else
      expect(
        written()
          .split('\n')
          .filter((line) => /^\S/.test(line)),
      ).toHaveLength(1);
  }
});

test('an uncaught error is reported as one, inert, and ends the process', async () => {
  const thrown = JSON.stringify(`${MARK}\x1b[2J\u202e\x9b2J`);
  const child = runDist(
    `load('cli/main'); process.nextTick(() => { throw new Error(${thrown}); });`,
    '--version',
  );
  await child.ended;
  expect(child.child.exitCode).toBe(70);
  expect(child.stderr()).toMatch(/^holdfast: internal: .*evil\\u\{1b\}\[2J/);
  expect(active(child.stderr(), { tty: false })).toBe('');
});
