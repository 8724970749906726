// S19: python and nodejs run a file in the session's folder and environment.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandView } from '../../../../contracts/sessions/session';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace } from '../session-processes';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

const python = (code: string): Promise<CommandView> => t.run(code, { runtime: 'python' });
const nodejs = (code: string): Promise<CommandView> => t.run(code, { runtime: 'nodejs' });

describe('python', () => {
  test.each([
    ['the last expression is echoed', '1 + 1', '2\n'],
    ['a text is echoed as its repr', "'a' + 'b'", "'ab'\n"],
    ['None is not echoed', 'None', ''],
    ['only the last expression is echoed', '1\n2\n3', '3\n'],
    ['a last statement echoes nothing', '1\nx = 2', ''],
    ['a print is not echoed again', 'print("a")', 'a\n'],
    ['definitions are seen by the last expression', 'def f(n):\n    return n * 2\n\nf(21)', '42\n'],
    ['the file is the main module', '__name__', "'__main__'\n"],
    ['a guard of the main module is passed', 'if __name__ == "__main__":\n    print("main")', 'main\n'],
    ['non-ASCII text is kept', 'print("naïve 日本 🎉")', 'naïve 日本 🎉\n'],
    ['imports from the future are allowed', 'from __future__ import annotations\n5', '5\n'],
    ['an empty last line does not matter', '7\n\n# end\n', '7\n'],
    ['names of the runner are not seen', '"linecache" in globals(), "main" in globals()', '(False, False)\n'],
  ])('%s', async (_title, code, output) => {
    expect(await python(code)).toMatchObject({ output, exitCode: 0 });
  });

  test.each([
    ['SystemExit with a number', 'raise SystemExit(5)', 5, ''],
    ['sys.exit with a text', 'import sys\nsys.exit("bad")', 1, 'bad\n'],
    ['sys.exit without anything', 'import sys\nsys.exit()', 0, ''],
    ['os._exit', 'import os\nos._exit(9)', 9, ''],
    ['a signal', 'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)', 137, 'Killed\n'],
  ])('the exit code of %s is reported', async (_name, code, exitCode, output) => {
    expect(await python(code)).toMatchObject({ exitCode, output, killedBy: null });
  });

  test('a traceback shows the code and no frame of the runner', async () => {
    const view = await python('def f():\n    return 1 / 0\n\nprint("before")\nf()');
    expect(view.exitCode).toBe(1);
    expect(view.output).toContain(
      'before\nTraceback (most recent call last):\n  File "<code>", line 5, in <module>\n',
    );
    expect(view.output).toContain('File "<code>", line 2, in f');
    expect(view.output).toContain('ZeroDivisionError: division by zero');
    expect(view.output).not.toMatch(/run-python|ast\.py|holdfast/);
  });

  test('a syntax error shows its line and no frame of the runner', async () => {
    const view = await python('print("never")\ndef f(:\n    pass');
    expect(view).toMatchObject({ exitCode: 1 });
    expect(view.output).toMatch(/^ {2}File "<code>", line 2\n/);
    expect(view.output).not.toMatch(/never|run-python|ast\.py/);
  });

  test('names of one command are not seen by the next', async () => {
    await python('kept = 1');
    expect((await python('"kept" in globals()')).output).toBe('False\n');
  });
});

describe('nodejs', () => {
  test.each([
    ['CommonJS has require', 'const fs = require("fs"); console.log(typeof fs.readFileSync)', 'function\n'],
    ['CommonJS has module and exports', 'console.log(module.exports === exports)', 'true\n'],
    [
      'CommonJS may import()',
      'import("node:path").then((p) => console.log(p.sep))',
      expect.stringMatching(/^\/\n/) as string,
    ],
    ['an ES module may import', 'import { sep } from "node:path"; console.log(sep)', '/\n'],
    ['await stands at the top', 'const x = await Promise.resolve(4); console.log(x)', '4\n'],
    ['await and require stand together', 'console.log(require("path").sep, await 5)', '/ 5\n'],
    ['timers finish', 'setTimeout(() => console.log("late"), 20)', 'late\n'],
    ['non-ASCII text is kept', 'console.log("naïve 日本 🎉")', 'naïve 日本 🎉\n'],
  ])('%s', async (_title, code, output) => {
    expect(await nodejs(code)).toMatchObject({ output, exitCode: 0 });
  });

  test.each([
    ['process.exit', 'process.exit(6)', 6],
    ['process.exitCode', 'process.exitCode = 7', 7],
    ['a thrown error', 'throw new Error("boom")', 1],
    ['a rejected promise', 'Promise.reject(new Error("boom"))', 1],
    ['a thrown error in a module', 'await 1; throw new Error("boom")', 1],
    ['a syntax error', 'function (', 1],
    ['a missing module', 'require("not-there")', 1],
  ])('the exit code of %s is reported', async (_name, code, exitCode) => {
    expect(await nodejs(code)).toMatchObject({ exitCode, killedBy: null });
  });

  test('modules are found from the folder of the session, by require and by import', async () => {
    const folder = join(t.cwd, 'node_modules', 'local-package');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"name":"local-package","main":"index.js"}');
    writeFileSync(join(folder, 'index.js'), 'module.exports = { name: "local" };');
    writeFileSync(join(t.cwd, 'beside.mjs'), 'export const name = "beside";');
    expect((await nodejs('console.log(require("local-package").name)')).output).toBe('local\n');
    expect((await nodejs('import p from "local-package"; console.log(p.name)')).output).toBe('local\n');
    expect((await nodejs('import { name } from "./beside.mjs"; console.log(name)')).output).toBe('beside\n');
  });
});

describe('both', () => {
  test.each([
    ['python', 'import os\nprint(os.getcwd(), os.environ.get("SEEN"))'],
    ['nodejs', 'console.log(process.cwd(), process.env.SEEN)'],
  ] as const)('%s sees the folder and the exports of the session', async (runtime, code) => {
    await t.run(`mkdir -p deep && cd deep && export SEEN='a b'`);
    expect((await t.run(code, { runtime })).output).toBe(`${t.cwd}/deep a b\n`);
    await t.run('cd ..');
  });

  test.each([
    ['python', 'python3', '1'],
    ['nodejs', 'node', '1'],
  ] as const)(
    '%s without its program says what is missing and runs nothing',
    async (runtime, program, code) => {
      await t.run('OLD=$PATH; PATH=/nowhere; hash -r');
      const view = await t.run(code, { runtime });
      await t.run('PATH=$OLD');
      expect(view).toMatchObject({ exitCode: 127 });
      expect(view.output).toContain(`missing_program: Runtime ${runtime} needs ${program}`);
    },
  );

  test.each([
    ['python', 'import os\nos.chdir("/")\nos.environ["LEAKED"] = "1"'],
    ['nodejs', 'process.chdir("/"); process.env.LEAKED = "1"'],
  ] as const)('what %s changes of itself does not change the session', async (runtime, code) => {
    await t.run(code, { runtime });
    expect((await t.run('echo "$PWD [$LEAKED]"')).output).toBe(`${t.cwd} []\n`);
  });

  test.each(['python', 'nodejs'] as const)('100 KB of %s code arrive unchanged', async (runtime) => {
    const text = 'ü"\\n$x`y` '.repeat(10_000);
    const literal = JSON.stringify(text);
    const code = runtime === 'python' ? `print(len(${literal}))` : `console.log(${literal}.length)`;
    expect((await t.run(code, { runtime })).output).toBe(`${text.length}\n`);
  });
});
