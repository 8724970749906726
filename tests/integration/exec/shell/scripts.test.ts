// Scripts run as their interpreter runs a file: what they ask about themselves, and what they start from themselves.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandView, Runtime } from '../../../../contracts/sessions/session';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace } from '../session-processes';

let t: TestHost;
beforeAll(() => {
  t = testHost();
  writeFileSync(join(t.cwd, 'beside_x.py'), 'NAME = "beside"\n');
  writeFileSync(join(t.cwd, 'beside.cjs'), 'module.exports = "beside"');
  writeFileSync(join(t.cwd, 'beside.mjs'), 'export default "beside"');
  mkdirSync(join(t.cwd, 'node_modules', 'own'), { recursive: true });
  writeFileSync(join(t.cwd, 'node_modules', 'own', 'index.js'), 'module.exports = "own"');
});
afterAll(() => endWithoutTrace(t));

const run = (code: string, runtime: Runtime): Promise<CommandView> =>
  t.run(code, { runtime, yield: { firstOutputMs: 60_000, betweenOutputMs: 60_000, maxMs: 60_000 } });

/** Workers import the script's main module anew, from its file. */
const spawns = (start: string): string => `import multiprocessing as mp
import beside_x
def double(x): return (2 * x, beside_x.NAME)
if __name__ == "__main__":
    with mp.get_context("${start}").Pool(2) as pool:
        print(pool.map_async(double, [1, 2]).get(timeout=40))`;

describe.each(['python', 'python_script'] as const)('%s', (runtime) => {
  // thonny/thonny#2544, napari/napari#8936
  test.each(['spawn', 'forkserver'])('processes that it starts by %s run its functions', async (start) => {
    expect(await run(spawns(start), runtime)).toMatchObject({
      exitCode: 0,
      output: "[(2, 'beside'), (4, 'beside')]\n",
    });
  });

  test.each([
    // CoplayDev/unity-mcp#1186
    ['a byte order mark is no part of the code', '\uFEFFprint("mark")', 'mark\n'],
    ['a mark before a guard hides nothing', '\uFEFFif __name__ == "__main__":\n    print("main")', 'main\n'],
    // bpython/bpython#284, spyder-ide/spyder#217
    ['its path is that of a file with its code', 'print("x" in open(__file__).read())', 'True\n'],
    ['its first argument is its path', 'import sys\nprint(sys.argv == [__file__])', 'True\n'],
    [
      'its path is absolute after it has changed the folder',
      'import os\nos.chdir("/")\nprint(os.path.isfile(__file__))',
      'True\n',
    ],
    [
      'it starts itself again',
      'import subprocess, sys\nif len(sys.argv) > 1:\n    print("again")\nelse:\n    print(subprocess.run([sys.executable, __file__, "x"], capture_output=True, text=True).stdout.strip())',
      'again\n',
    ],
    [
      'it has the source of its functions',
      'import inspect\ndef f():\n    return 5\nprint(inspect.getsource(f).strip())',
      'def f():\n    return 5\n',
    ],
    [
      'its main module is the one that it can import',
      'import __main__\nx = 5\nprint(__main__.x, __main__.__file__ == __file__, __spec__)',
      '5 True None\n',
    ],
    [
      'what it pickles is found in its main module',
      'import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)',
      'True\n',
    ],
    // huggingface/smolagents#1229
    ['a guard of the main module is passed', 'if __name__ == "__main__":\n    print("main")', 'main\n'],
    // bojieli/ai-agent-book#191
    ['its functions see its variables', 'x = 5\ndef double():\n    return x * 2\nprint(double())', '10\n'],
    ['its standard input is the terminal', 'import sys\nprint(sys.stdin.isatty())', 'True\n'],
  ])('%s', async (_what, code, output) => {
    expect(await run(code, runtime)).toMatchObject({ exitCode: 0, output });
  });
});

describe('nodejs', () => {
  const commonJs: [string, string, string][] = [
    // google/zx#271
    ['a guard of the main module is passed', 'if (require.main === module) console.log("main")', 'main\n'],
    ['its second argument is its path', 'console.log(process.argv[1] === __filename)', 'true\n'],
    ['there are no other arguments', 'console.log(process.argv.length)', '2\n'],
    [
      'its path is that of a file with its code',
      'console.log(require("fs").readFileSync(__filename, "utf8").includes("xyz"))',
      'true\n',
    ],
    ['its folder is the working folder', 'console.log(__dirname === process.cwd())', 'true\n'],
    ['module names its file', 'console.log(module.filename === __filename, module.id)', 'true .\n'],
    ['`this` is what it exports', 'console.log(this === module.exports)', 'true\n'],
    ['a line for the system before it is skipped', '#!/usr/bin/env node\nconsole.log("ran")', 'ran\n'],
    ['`return` ends it', 'console.log("ran"); return; console.log("never")', 'ran\n'],
    [
      'it may be strict',
      '"use strict"; console.log(this === module.exports, (() => { try { undeclared = 1 } catch { return 5 } })())',
      'true 5\n',
    ],
    [
      'a process forked from its own file runs it, with the same modules',
      `const { fork } = require('child_process');
       if (process.argv[2] === 'child') process.send(require('./beside.cjs') + ' ' + require('own'));
       else fork(__filename, ['child']).on('message', (m) => console.log(m));`,
      'beside own\n',
    ],
    [
      'a thread of its own file runs it, with the same modules',
      `const { Worker, isMainThread, parentPort } = require('worker_threads');
       if (isMainThread) new Worker(__filename).on('message', (m) => console.log(m));
       else parentPort.postMessage(require('./beside.cjs') + ' ' + require('own') + ' ' + (require.main === module));`,
      expect.stringMatching(/^beside own (?:true|false)\n$/) as string,
    ],
    [
      'import() finds modules from the working folder',
      'import("./beside.mjs").then(async (m) => console.log(m.default, (await import("own")).default))',
      'beside own\n',
    ],
    [
      'require.resolve finds from the working folder',
      'console.log(require.resolve("./beside.cjs").startsWith(process.cwd()))',
      'true\n',
    ],
  ];
  const modules: [string, string, string][] = [
    [
      'a guard by its path is passed',
      'import { fileURLToPath } from "node:url";\nif (process.argv[1] === fileURLToPath(import.meta.url)) console.log("main")',
      'main\n',
    ],
    ['import.meta.main is not false', 'import "node:fs";\nconsole.log(import.meta.main !== false)', 'true\n'],
    [
      'a mark before an import is no part of the code',
      '\uFEFFimport "node:fs"; console.log("mark")',
      'mark\n',
    ],
    [
      'a process forked from its own file runs it, with the same modules',
      `import { fork } from 'node:child_process';
       import { fileURLToPath } from 'node:url';
       import beside from './beside.mjs';
       import own from 'own';
       if (process.argv[2] === 'child') process.send(beside + ' ' + own + ' ' + require('./beside.cjs'));
       else fork(fileURLToPath(import.meta.url), ['child']).on('message', (m) => console.log(m));`,
      'beside own beside\n',
    ],
    [
      'a thread of its own file runs it, with the same modules',
      `import { Worker, isMainThread, parentPort } from 'node:worker_threads';
       import beside from './beside.mjs';
       if (isMainThread) new Worker(new URL(import.meta.url)).on('message', (m) => console.log(m));
       else parentPort.postMessage(beside + ' ' + require('own'));`,
      'beside own\n',
    ],
    [
      'a package that is CommonJS has its own modules',
      'import { createRequire } from "node:module";\nimport own from "own";\nconsole.log(own, createRequire(process.cwd() + "/x.js")("own"))',
      'own own\n',
    ],
  ];
  test.each([...commonJs, ...modules])('%s', async (_what, code, output) => {
    const view = await run(`${code}\n// xyz`, 'nodejs');
    expect(view).toMatchObject({ exitCode: 0, output });
  });

  test('a stack trace has the lines of the code, under a short name', async () => {
    const view = await run('function f() {\n  throw new Error("boom");\n}\nf();', 'nodejs');
    expect(view.output).toMatch(/^\[code\]:2\n {2}throw new Error\("boom"\);/);
    expect(view.output).toMatch(/at f \(\[code\]:2:9\)\n {4}at .*\[code\]:4:1\)/);
  });
});

test('two sessions run their own scripts at once', async () => {
  const code = 'import os, time\nprint("x-NAME" in open(__file__).read())';
  const sessions = ['a', 'b'].map((name, session) =>
    t.run(code.replace('NAME', name), { runtime: 'python', ref: { ...t.ref, session: session + 1 } }),
  );
  expect((await Promise.all(sessions)).map(({ output }) => output)).toEqual(['True\n', 'True\n']);
});
