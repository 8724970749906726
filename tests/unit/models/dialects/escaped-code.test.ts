import { execFileSync } from 'node:child_process';
import { withMendedCode, type DeclaredCode } from '../../../../models/dialects/escaped-code';

const ROLES = { runtime: 'runtime', code: 'code' };
const mended = (
  code: string,
  args: object = { runtime: 'python' },
  declared: DeclaredCode = { argumentRoles: ROLES },
): unknown => {
  const call = withMendedCode({ callId: 'call_1', tool: 'x', args: { ...args, code } }, declared);
  if (call.args.code === code) expect(call.repaired).toBeUndefined();
  else expect(call.repaired).toMatch(/escaped twice/);
  return call.args.code;
};

test.each([
  ['statements', 'python', 'import os\\nprint(os.getcwd())', 'import os\nprint(os.getcwd())'],
  ['a line end at the end', 'python', 'print(1)\\n', 'print(1)\n'],
  ['quotes', 'python', 'print(\\"a\\")\\nprint(\\"b\\")', 'print("a")\nprint("b")'],
  [
    'indentation by \\t',
    'python',
    'for i in range(2):\\n\\tprint(i)\\n\\tprint(1)',
    'for i in range(2):\n\tprint(i)\n\tprint(1)',
  ],
  [
    'strings escaped twice',
    'python',
    'print(\\"a\\\\nb\\", \'c\\\\td\')\\nx = 1',
    'print("a\\nb", \'c\\td\')\nx = 1',
  ],
  ['strings escaped once', 'python', 'print(\\"a\\nb\\")\\nx = 1', 'print("a\\nb")\nx = 1'],
  ['strings over several lines', 'python', 'x = \\"\\"\\"a\\nb\\"\\"\\"', 'x = """a\nb"""'],
  ['an apostrophe in a comment', 'python', "# it's here\\nprint('x')", "# it's here\nprint('x')"],
  ['a comment that ends', 'python', 'import os  # paths\\nprint(1)', 'import os  # paths\nprint(1)'],
  ['a first line with #!', 'python', '#!/usr/bin/env python3\\nprint(1)', '#!/usr/bin/env python3\nprint(1)'],
  ['a first line that quotes', 'python', '# says "x"\\nprint(1)', '# says "x"\nprint(1)'],
  ['JavaScript', 'nodejs', 'const a = 1;\\nconsole.log(`${a}\\n`);', 'const a = 1;\nconsole.log(`${a}\n`);'],
  ['expressions', 'nodejs', 'f(/\\\\n\'/);\\ng(\\"a\\")', 'f(/\\n\'/);\ng("a")'],
  [
    'a comment of JavaScript',
    'nodejs',
    "/** it's */\\nf();\\n// don't\\ng('a')",
    "/** it's */\nf();\n// don't\ng('a')",
  ],
  ['commands', 'terminal', 'cd /tmp\\nls -la\\n', 'cd /tmp\nls -la\n'],
  [
    'a loop of a shell',
    'terminal',
    'for i in 1 2; do\\n  echo \\"$i\\"\\ndone',
    'for i in 1 2; do\n  echo "$i"\ndone',
  ],
])('code escaped twice is unescaped once: %s', (_name, runtime, code, expected) => {
  expect(mended(code, { runtime })).toBe(expected);
});

test.each([
  ['a string', 'python', 'print("a\\nb")'],
  ['a string in apostrophes', 'python', "print('a\\nb')"],
  ['a string with quotes', 'python', 'print("say \\"hi\\"\\n")'],
  ['a string of three quotes', 'python', 'print("""it\'s\\n""")'],
  ['a comment that speaks of it', 'python', 'print(1)  # use \\n as the end'],
  ['code without it', 'python', 'print(1)'],
  ['an expression', 'nodejs', 'console.log(text.split(/\\n/))'],
  ['an expression behind a word', 'nodejs', 'const f = (t) => { return /[/\\n]+/.test(t) }'],
  ['a template', 'nodejs', 'console.log(`a\\nb`)'],
  ['a comment in the middle', 'nodejs', '/* it\'s */ f("a\\nb")'],
  ['a division', 'nodejs', 'x = a / b / "\\n".length'],
  ['printf in apostrophes', 'terminal', "printf 'a\\nb\\n'"],
  ['printf in quotes', 'terminal', 'printf "a\\nb\\n"'],
  ['a backslash in apostrophes', 'terminal', "grep -c '\\' x; printf '\\n'"],
  ['tr without quotes', 'terminal', 'tr -d \\n < file'],
  ['a format without quotes', 'terminal', 'curl -s -w %{http_code}\\n http://x'],
  ['sed without quotes', 'terminal', 'sed s/x/\\n/g file'],
  ['real line ends', 'python', 'print(1)\nprint("a\\nb") \\n'],
])('code that may be meant literally is left alone: %s', (_name, runtime, code) => {
  expect(mended(code, { runtime })).toBe(code);
});

test('only a text is looked at, in the argument that the tool declares to be code', () => {
  for (const args of [{ text: 'a\\nb' }, { code: 5 }, { in: { code: 'a\\nb' } }]) {
    const call = { callId: 'c', tool: 'x', args };
    expect(withMendedCode(call, { argumentRoles: ROLES })).toBe(call);
  }
  const call = { callId: 'c', tool: 'run_python', args: { code: 'import os\\nprint(1)' } };
  expect(withMendedCode(call, {})).toBe(call);
  expect(withMendedCode(call, { argumentRoles: { runtime: 'code' } })).toBe(call);
});

test('an argument of another name is repaired, and the model is told its name', () => {
  const call = { callId: 'c', tool: 'x', args: { program: 'import os\\nprint(1)' } };
  expect(withMendedCode(call, { argumentRoles: { code: 'program' }, codeLanguage: 'python' })).toMatchObject({
    args: { program: 'import os\nprint(1)' },
    repaired: expect.stringContaining('The argument "program" was escaped twice') as string,
  });
});

test('the declared language counts; without one that of the runtime, otherwise it is a shell', () => {
  // In a shell this \n may be the letter n.
  expect(mended('print(1)\\n', {}, { argumentRoles: ROLES, codeLanguage: 'python' })).toBe('print(1)\n');
  expect(mended('print(1)\\n', { runtime: 'python' })).toBe('print(1)\n');
  expect(mended('print(1)\\n', { runtime: 'terminal' })).toBe('print(1)\\n');
  expect(mended('print(1)\\n', { runtime: 'python' }, { argumentRoles: { code: 'code' } })).toBe(
    'print(1)\\n',
  );
});

test('long code is unescaped', () => {
  const line = "print('it')  # it's\\n";
  expect(mended(line.repeat(50_000))).toBe("print('it')  # it's\n".repeat(50_000));
  expect(mended('"\'`/'.repeat(50_000))).toBe('"\'`/'.repeat(50_000));
});

test('unescaped Python is Python', () => {
  const code = mended(
    'import re\\n\\ndef f(x):\\n    return re.sub(r\\"\\\\s+\\", \' \', x) + \\"\\n\\"\\n\\nprint(f(\'a\\tb\'))',
  );
  execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: code as string });
});
