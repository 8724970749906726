// Where findings are, and that nothing in hostile code stops or fools the checks.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckReport, Verdict } from '../../../contracts/tools/checks';
import { MAX_CODE_BYTES, type Runtime } from '../../../contracts/sessions/session';
import { CodeChecks } from '../../../checks/code-checks';
import { childrenOf, readText } from '../../../system/processes/proc';
import { until } from '../../helpers/until';

const checks = new CodeChecks();
afterAll(() => checks.close());

const check = (runtime: Runtime, code: string): Promise<CheckReport> => checks.check({ runtime, code });
const first = async (runtime: Runtime, code: string): Promise<Verdict | undefined> =>
  (await check(runtime, code)).verdicts[0];
const LANGUAGES = ['terminal', 'python', 'nodejs'] as const;

test('a finding names rule, language, place, excerpt and reason', async () => {
  expect(await check('terminal', 'echo hi\n  sudo rm -rf /etc && ls')).toEqual({
    verdicts: [
      {
        rule: 'destructive',
        language: 'bash',
        line: 2,
        column: 3,
        found: 'sudo rm -rf /etc',
        reason: 'it removes /etc with all that is in it',
      },
    ],
    unparsed: null,
  });
});

test('however many findings of one rule there are, a later finding of another rule is reported', async () => {
  const { verdicts } = await check('terminal', `${'rm -rf /etc\n'.repeat(500)}echo [YOUR_API_KEY]`);
  expect(verdicts.length).toBeLessThanOrEqual(100);
  expect(verdicts.at(-1)).toMatchObject({ rule: 'placeholder', line: 501 });
});

test.each([
  ['behind characters outside of the BMP', 'terminal', 'echo "🎉🎉"; rm -rf /', '1:14'],
  ['in a here-document', 'terminal', "bash <<'EOF'\nls\n  rm -rf /\nEOF", '3:3'],
  ['in the line of bash -c', 'terminal', 'bash -c "ls; rm -rf /"', '1:14'],
  ['in Python in bash', 'terminal', "python3 - <<'EOF'\nimport os\nos.system('ls; rm -rf /')\nEOF", '3:16'],
  ['in bash in Python', 'python', 'import os\nos.system("ls; rm -rf /")', '2:16'],
  ['in Python behind other characters', 'python', 'x = "ü🎉"; import os; os.system("rm -rf /")', '1:34'],
  ['in Python with \\r\\n', 'python', 'import os\r\nos.system("rm -rf /")', '2:12'],
  ['in a text of several lines', 'python', 'import os\nos.system("""\nls\nrm -rf /\n""")', '4:1'],
  ['in bash in JavaScript', 'nodejs', "\nrequire('child_process').execSync('rm -rf /')", '2:36'],
  ['in a template', 'nodejs', 'const key =\n  `[YOUR_API_KEY]`', '2:4'],
] as const)('the place is exact %s', async (_what, runtime, code, place) => {
  const { line, column } = (await first(runtime, code)) ?? {};
  expect(`${line}:${column}`).toBe(place);
});

test('an excerpt is one short line without control characters', async () => {
  const verdict = await first('terminal', `rm -rf / "\x1b]0;title\x07\x9b\u202e" ${'x'.repeat(300)}`);
  expect(verdict?.found).toMatch(/^rm -rf \/ /);
  expect(verdict?.found).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(verdict?.found.length).toBeLessThanOrEqual(120);
});

test.each([
  ['terminal', 'if then (', 'line 1'],
  ['python', 'x = 1\ndef f(:\n', 'line 2'],
  ['nodejs', 'function (', 'not JavaScript'],
] as const)('code of %s that does not parse says so', async (runtime, code, reason) => {
  expect(await check(runtime, code)).toMatchObject({
    verdicts: [],
    unparsed: expect.stringContaining(reason) as string,
  });
});

test('everything except a part that does not parse is checked', async () => {
  const report = await check('terminal', 'rm -rf /\npython3 -c "def f(:"');
  expect(report).toMatchObject({
    verdicts: [{ line: 1 }],
    unparsed: expect.stringContaining('line 2') as string,
  });
});

test('without python3 the report says so, and the other languages are checked', async () => {
  const without = new CodeChecks({ python: '/nowhere/python3' });
  const report = await without.check({ runtime: 'python', code: 'import os; os.system("rm -rf /")' });
  expect(report).toEqual({ verdicts: [], unparsed: expect.stringContaining('/nowhere/python3') as string });
  const other = await without.check({ runtime: 'terminal', code: 'rm -rf /' });
  expect(other.verdicts).toHaveLength(1);
  without.close();
});

test('a Python that never answers is ended, and the other languages are checked', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-checks-'));
  const python = join(folder, 'python3');
  writeFileSync(python, '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
  const stuck = new CodeChecks({ python });
  const code = "rm -rf /\npython3 -c 'x = 1'";
  const { verdicts, unparsed } = await stuck.check({ runtime: 'terminal', code });
  expect(verdicts).toHaveLength(1);
  expect(unparsed).toContain('took too long');
  stuck.close();
  rmSync(folder, { recursive: true });
});

test('a Python process that dies is restarted', async () => {
  await check('python', 'x = 1');
  const pids = pythonParsers();
  expect(pids).toHaveLength(1);
  process.kill(pids[0] as number, 'SIGKILL');
  const report = await check('python', 'import os; os.system("rm -rf /")').then(async (once) =>
    once.unparsed === null ? once : check('python', 'import os; os.system("rm -rf /")'),
  );
  expect(report.verdicts).toHaveLength(1);
});

test('close ends the process, and a later check starts a new one', async () => {
  const own = new CodeChecks();
  const before = pythonParsers();
  await own.check({ runtime: 'python', code: 'x = 1' });
  const [started] = pythonParsers().filter((pid) => !before.includes(pid));
  expect(started).toBeDefined();
  own.close();
  await until(() => !pythonParsers().includes(started as number));
  expect(await own.check({ runtime: 'python', code: 'x = 1' })).toEqual({ verdicts: [], unparsed: null });
  own.close();
});

test('nothing of the code is run, imported or written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-checks-'));
  const path = join(folder, 'touched');
  await check('terminal', `touch ${path}; $(touch ${path}) > ${path}`);
  await check('python', `open("${path}", "w").write("x")\nexec("open('${path}', 'w')")`);
  await check('nodejs', `require('fs').writeFileSync('${path}', '')`);
  expect(existsSync(path)).toBe(false);
  rmSync(folder, { recursive: true });
});

describe.each(LANGUAGES)('hostile code of %s is answered', (runtime) => {
  test('with random bytes', async () => {
    for (let round = 0; round < 20; round++) {
      const code = randomBytes(2_000).toString(round % 2 === 0 ? 'latin1' : 'utf8');
      expect(await check(runtime, code)).toHaveProperty('verdicts');
    }
  });

  test.each(['(', '[', '{', '$(', '`', '"$(', 'if x:\n ', 'a(', '-', '!', '((', "f'{", '${x:-'])(
    'with %s nested deep',
    async (part) => {
      expect(await check(runtime, part.repeat(5_000))).toHaveProperty('verdicts');
    },
  );

  test('when it is as long as it may be, and refused when it is longer', async () => {
    const lines = 'x=1\n'.repeat(MAX_CODE_BYTES / 4);
    expect((await check(runtime, lines)).verdicts).toEqual([]);
    expect((await check(runtime, `${lines}x`)).unparsed).toContain('longer');
  });

  test('when a finding is at the end of a long script', async () => {
    const line = {
      terminal: 'rm -rf /',
      python: 'import os; os.system("rm -rf /")',
      nodejs: "require('child_process').exec('rm -rf /')",
    };
    expect((await check(runtime, `${'x=1\n'.repeat(5_000)}${line[runtime]}`)).verdicts).toHaveLength(1);
  });
});

test.each([
  ['names to fill in without end', 'nodejs', 'YOUR_KEY;'.repeat(25_000), 'YOUR_KEY'],
  ['options without end', 'terminal', `tar ${'-C a '.repeat(40_000)}; rm -rf /`, 'rm -rf /'],
  [
    'files that double',
    'terminal',
    `echo ${'a'.repeat(99)} > f\n${'cat f f > g\ncat g g > f\ncp f f h; cat f >> g\n'.repeat(12)}rm -rf /`,
    'rm -rf /',
  ],
  [
    'long words without end',
    'terminal',
    `x=aaaaaaaa\n${'x=$x$x\n'.repeat(14)}echo ${'"$x" '.repeat(5_000)}; rm -rf /`,
    'rm -rf /',
  ],
  [
    'arrays of long words',
    'terminal',
    `x=aaaaaaaa\n${'x=$x$x\n'.repeat(14)}a=(${'"$x" '.repeat(5_000)}); rm -rf /`,
    'rm -rf /',
  ],
  ['patterns of arguments', 'terminal', `wipefs ${'x '.repeat(100_000)}; rm -rf /`, 'rm -rf /'],
] as const)('%s hide nothing', async (_what, runtime, code, found) => {
  const report = await check(runtime, code);
  expect(report.unparsed).toBeNull();
  expect(report.verdicts.at(-1)?.found).toBe(found);
});

test.each([
  ['a variable that doubles', 'terminal', `x=aaaaaaaa\n${'x=$x$x\n'.repeat(200)}rm -rf $x`],
  ['a function that calls itself', 'terminal', 'f() { f "$1$1"; f "$1"; }; f a; rm -rf /'],
  ['braces in braces', 'terminal', `echo ${'{a,b}'.repeat(200)}`],
  [
    'variables of many values',
    'terminal',
    `${'for a in 1 2 3 4 5 6 7 8; do '.repeat(30)}rm $a$a$a$a$a${'; done'.repeat(30)}`,
  ],
  ['eval of eval', 'terminal', `${'eval '.repeat(500)}ls`],
  [
    'a function that calls itself, in Python',
    'python',
    'def f(x):\n    f(x + x)\n    return f(x)\nf("a" * 9)',
  ],
  ['a text that doubles, in JavaScript', 'nodejs', `let x = 'aaaaaaaa';${'x += x;'.repeat(200)}`],
  ['a chain of calls', 'nodejs', `a${'.b(c => c)'.repeat(400)}`],
  ['functions in functions', 'nodejs', `${'(() => '.repeat(60)}1${')()'.repeat(60)}`],
  ['pieces of Python without end', 'terminal', "python3 -c 'x = 1'\n".repeat(60)],
] as const)('%s is answered', async (_what, runtime, code) => {
  expect(await check(runtime, code)).toHaveProperty('verdicts');
});

test('characters that stand for marks inside do not make or hide findings', async () => {
  const marks = Array.from({ length: 8 }, (_value, at) => String.fromCharCode(0xe000 + at)).join('');
  expect((await check('terminal', `curl -d "${marks}" https://x.example; ${marks}`)).verdicts).toEqual([]);
  expect((await check('terminal', `echo "${marks}"; rm -rf /`)).verdicts).toHaveLength(1);
});

test('simultaneous checks are all answered', async () => {
  const reports = await Promise.all(
    Array.from({ length: 12 }, (_value, at) => check(LANGUAGES[at % 3] ?? 'terminal', 'x=1')),
  );
  expect(reports).toEqual(Array.from({ length: 12 }, () => ({ verdicts: [], unparsed: null })));
});

function pythonParsers(): number[] {
  return childrenOf(process.pid).filter((pid) =>
    readText(`/proc/${pid}/cmdline`)?.includes('parse-python.py'),
  );
}
