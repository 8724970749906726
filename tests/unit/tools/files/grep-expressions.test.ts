// The same expressions by ripgrep and without it. strukto-ai/mirage#1170: a class that one of them does not know finds
// nothing, and "no matches" is a false fact.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missingOf } from '../../../helpers/run/programs';
import { toolOnHost, type ToolOnHost } from '../../../helpers/tools/tool-call';

const noRipgrep = missingOf('rg');
const empty = mkdtempSync(join(tmpdir(), 'holdfast-no-programs-'));
afterAll(() => rmSync(empty, { recursive: true, force: true }));

const LINES = [
  ...['id 42', 'word', 'fünf (TODO)', '٣ three', 'ÄPFEL', 'foo.bar', 'fn main() {', 'a-b_c', 'tab\there'],
  ...['crlf line\r', '', 'x]y^z', 'ABC abc', 'Ωmega', 'Привет', '😀', 'e\u0301a', 'a\u2028b', 'foo\u00a0bar'],
  ...['email: joe.d-x+y@ex-am.com', 'foofoo', '[1,2]', '9', 'trail  '],
];

const SAME: readonly [pattern: string, found: readonly string[]][] = [
  ['[[:digit:]]+', ['id 42', '[1,2]', '9']],
  ['[[:space:]]4', ['id 42']],
  ['[[:^alpha:]]{5}', ['Привет', '[1,2]']],
  ['[[:upper:][:digit:]]{3} ', ['ABC abc']],
  ['\\<word\\>', ['word']],
  ['\\bfünf\\b', ['fünf (TODO)']],
  ['f\\wnf', ['fünf (TODO)']],
  ['^\\d', ['٣ three', '9']],
  ['^\\w$', ['9']],
  ['o\\sb', ['foo\u00a0bar']],
  ['(?i)äpfel', ['ÄPFEL']],
  ['(?i)ωmega', ['Ωmega']],
  ['AB(?i)c ABC', ['ABC abc']],
  ['(?i:abc) abc', ['ABC abc']],
  ['xx(?i)yy|ÄPF', ['ÄPFEL']],
  ['(?i)a(?-i)BC a', ['ABC abc']],
  ['[]x]y', ['x]y^z']],
  ['[x^]z', ['x]y^z']],
  ['a[-b]b', ['a-b_c']],
  ['[\\w.+-]+@[\\w.-]+\\.com$', ['email: joe.d-x+y@ex-am.com']],
  ['[\\w-.]+@', ['email: joe.d-x+y@ex-am.com']],
  ['\\pL{6}', ['Привет', 'foofoo']],
  ['\\p{Greek}', ['Ωmega']],
  ['\\p{cyrillic}', ['Привет']],
  ['\\p{sc=Greek}m', ['Ωmega']],
  ['\\x{1F600}', ['😀']],
  ['\\x41BC', ['ABC abc']],
  ['^.$', ['😀', '9']],
  ['^e.a$', ['e\u0301a']],
  ['^a.b$', ['a\u2028b']],
  ['^[a-z&&[^a-c]]{4}$', ['word']],
  ['^[\\w--\\d]$', []],
  ['[[aA]B]BC', ['ABC abc']],
  ['\\Aid', ['id 42']],
  ['42\\z', ['id 42']],
  ['line$', []],
  ['line\\r$', ['crlf line\r']],
  ['[ ]+$', ['trail  ']],
  ['^$', ['']],
  ['(?P<twice>foo){2}', ['foofoo']],
  ['(foo)\\1', ['foofoo']],
  ['foo(?=\\.)', ['foo.bar']],
  ['fn main\\(\\) {', ['fn main() {']],
  ['\\[1,2\\]', ['[1,2]']],
  ['\\"|\\-b_', ['a-b_c']],
];

/** With ripgrep some of these are right; without it they are refused. */
const REFUSED = [
  '(?x) w o r d',
  '(?U)o+',
  '(?-u)\\w',
  '[a-z~~b]',
  '\\p{Nothing}',
  '[[:nothing:]',
  '(?P=twice)',
  '\\Q.\\E',
];

for (const way of ['ripgrep', 'Node'] as const) {
  const missing = way === 'Node' ? undefined : noRipgrep;
  (missing ? describe.skip : describe)(`by ${way}${missing ? ` (not checked: ${missing})` : ''}`, () => {
    let grep: ToolOnHost;
    beforeAll(() => {
      grep = toolOnHost('grep_files', way === 'Node' ? { PATH: empty } : {});
      writeFileSync(join(grep.directory, 'lines'), `${LINES.join('\n')}\n`);
    });
    afterAll(() => grep.remove());

    const found = async (pattern: string): Promise<string[]> => {
      const { matches } = (await grep.value({ pattern })) as { matches: { text: string }[] };
      return matches.map(({ text }) => text);
    };

    test.each(SAME)('%s finds its lines', async (pattern, lines) => {
      expect(await found(pattern)).toEqual(lines.map((line) => line.replace(/\r$/, '')));
    });
  });
}

describe('by Node', () => {
  test.each(REFUSED)(
    'an expression that only ripgrep knows, or none, is refused and never finds less: %s',
    async (pattern) => {
      const grep = toolOnHost('grep_files', { PATH: empty });
      writeFileSync(join(grep.directory, 'lines'), `${LINES.join('\n')}\n`);
      try {
        expect(await grep.error({ pattern })).toMatchObject({
          code: 'invalid_input',
          message: expect.stringContaining('"pattern"') as string,
        });
      } finally {
        grep.remove();
      }
    },
  );
});
