// Both output filters, against strings made to get through them.
import { AttachedOutput } from '../../../cli/terminal/attached-output';
import { InertText } from '../../../cli/terminal/inert-text';

const NASTY = [
  ...['\x1b', '\x1b', '\x1b', '\x1b[', '[', ']', 'P', 'k', '_', '(', '?', '>', '<', '=', '$', ' ', '!', '\\'],
  ...[
    '0',
    '1',
    '6',
    '25',
    '1004',
    ';',
    ':',
    't',
    'n',
    'c',
    'm',
    'u',
    'h',
    'p',
    'q',
    'i',
    'Z',
    'a',
    'é',
    '字',
    '🙂',
  ],
  ...['\x07', '\x01', '\x00', '\r', '\n', '\x18', '\x1a', '\x7f', '\x9b', '\x9c', '\x9d', '\x90'],
];
/** What the complete output may consist of. */
const DRAWN =
  '[^\\x00-\\x06\\x10-\\x1f\\x7f-\\x9f]|\\x1b[6=>c]|\\x1b\\([ -/]?[0-~]|\\x1b\\[[0-9;:]*[PZamu]|\\x1b\\[[0-9]* q|\\x1b\\[\\?25(;25)*h|\\x1b\\[!p';
const ASKED = '\\x1b\\[[?]?[0-9;]*n|\\x1b\\[[>=]?[0-9;]*c|\\x1b\\[[?]?[0-9;]*\\$p|\\x1b\\[>[0-9;]*q|\\x1bZ';
const PLAIN = '[^\\x00-\\x07\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]';

/** The same numbers each time (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

interface Filter {
  push(chunk: Buffer): string;
  end?(): string;
}
const filters: [string, () => Filter, string][] = [
  ['who types', () => new AttachedOutput(true), `${DRAWN}|${ASKED}`],
  ['who watches', () => new AttachedOutput(false), DRAWN],
  [
    'a log in colour',
    () => new InertText({ colours: true, carriageReturns: true, inOrder: true }),
    `${PLAIN}|\\x1b\\[[0-9;:]*m`,
  ],
  ['a log without', () => new InertText({ colours: false, carriageReturns: false, inOrder: false }), PLAIN],
];

describe.each(filters)('for %s', (_, filter, allowed) => {
  const pass = (...chunks: Buffer[]): string => {
    const through = filter();
    return chunks.map((chunk) => through.push(chunk)).join('') + (through.end?.() ?? '');
  };
  const isAllowed = new RegExp(`^(?:${allowed})*$`);

  test('nothing but what is allowed passes, however the output is made and cut, and passes again unchanged', () => {
    const random = randomFrom(20_261_121);
    let sequences = 0;
    for (let n = 0; n < 5_000; n++) {
      const text = Array.from({ length: 1 + random(24) }, () => NASTY[random(NASTY.length)]).join('');
      const bytes = Buffer.from(text);
      const whole = pass(bytes);
      if (!isAllowed.test(whole)) throw new Error(`${JSON.stringify(text)} became ${JSON.stringify(whole)}`);
      expect(pass(Buffer.from(whole))).toBe(whole);
      const [one, two] = [random(bytes.length + 1), random(bytes.length + 1)].sort((a, b) => a - b);
      expect(pass(bytes.subarray(0, one), bytes.subarray(one, two), bytes.subarray(two))).toBe(whole);
      sequences += whole.split('\x1b').length - 1;
    }
    // The control: it is not by dropping everything.
    if (allowed !== PLAIN) expect(sequences).toBeGreaterThan(20);
  });

  test('text of any language passes', () => {
    const text = 'größe ünïcödé 字漢 🙂 עברית ไทย\n';
    expect(pass(...Array.from(Buffer.from(text), (byte) => Buffer.from([byte])))).toBe(text);
  });
});
