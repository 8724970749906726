// X3: where imports are looked for first and one is not installed, nothing of the script runs. Where they are not, the
// script runs as its interpreter runs it. Either way the session says what is missing, and how to get it.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf } from '../../../../checks/javascript-imports';
import type { CommandView, Runtime } from '../../../../contracts/sessions/session';
import { sessionPaths } from '../../../../exec/session-paths';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace } from '../session-processes';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

const python = (code: string): Promise<CommandView> => t.run(code, { runtime: 'python', checkImports: [] });
const nodejs = (code: string): Promise<CommandView> =>
  t.run(code, { runtime: 'nodejs', checkImports: importsOf(code) });

describe('python', () => {
  test('nothing runs, and modules, packages, lines and the next step are reported', async () => {
    const view = await python(
      'import os, no_such_module\nprint("now")\nfrom sklearn.nowhere import x\nimport no_such_module.part\nopen("ran-python", "w")',
    );
    expect(view).toMatchObject({
      exitCode: 69,
      missing: [
        { module: 'no_such_module', package: 'no_such_module', line: 1 },
        { module: 'sklearn.nowhere', package: 'scikit-learn', line: 3 },
        { module: 'no_such_module.part', package: 'no_such_module', line: 4 },
      ],
    });
    expect(view.output).toBe(
      'missing_packages: The script imports modules that are not installed: no_such_module (line 1), sklearn.nowhere (line 3), ' +
        'no_such_module.part (line 4); none of it was run. Next: Install the missing packages (python3 -m pip install ' +
        'no_such_module scikit-learn), then run the script again.\n',
    );
    expect(existsSync(join(t.cwd, 'ran-python'))).toBe(false);
  });

  test.each([
    ['that are there', 'import os, json.decoder\nfrom collections import abc'],
    ['under try', 'try:\n    import no_such_a\nexcept ImportError:\n    pass'],
    [
      'under try with several kinds',
      'try:\n    import no_such_b\nexcept (OSError, ModuleNotFoundError):\n    pass',
    ],
    ['under try with everything', 'try:\n    import no_such_c\nexcept:\n    pass'],
    ['for types only', 'from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import no_such_d'],
    ['in functions', 'def f():\n    import no_such_e'],
    ['under conditions', 'import sys\nif sys.version_info < (3,):\n    import no_such_f'],
    [
      'that are suppressed',
      'import contextlib\nwith contextlib.suppress(ImportError):\n    import no_such_g',
    ],
  ])('imports %s hold nothing up', async (_what, code) => {
    const view = await python(`${code}\nprint("ran")`);
    expect(view).toMatchObject({ exitCode: 0, output: 'ran\n' });
    expect(view).not.toHaveProperty('missing');
  });

  test('modules are looked up in the folder and with the python3 of the session, and are not imported', async () => {
    mkdirSync(join(t.cwd, 'sub'));
    writeFileSync(join(t.cwd, 'sub', 'beside_here.py'), 'print("imported")');
    expect((await python('import beside_here')).missing).toMatchObject([{ module: 'beside_here' }]);
    await t.run('cd sub');
    expect(await python('import beside_here')).toMatchObject({ exitCode: 0, output: 'imported\n' });
    expect((await python('import no_such_module, beside_here')).output).not.toContain('imported\n');
    await t.run('cd ..; mkdir -p lib; echo > lib/on_path.py; export PYTHONPATH=$PWD/lib');
    expect(await python('import on_path')).toMatchObject({ exitCode: 0 });
  });

  test('a script that names its packages is not checked, and one with a variable of that name is', async () => {
    const script = (code: string): Promise<CommandView> =>
      t.run(code, { runtime: 'python_script', checkImports: [] });
    const bare = await script('# dependencies = ["no-such-module"]\nprint("began")\nimport no_such_module');
    expect(bare).toMatchObject({
      exitCode: 1,
      output: expect.stringMatching(/^began\n.*add no_such_module to the dependencies at the top/s) as string,
    });
    const variable = await script('dependencies = ["no-such-module"]\nprint("began")\nimport no_such_module');
    expect(variable).toMatchObject({ exitCode: 69, missing: [{ module: 'no_such_module', line: 3 }] });
  });

  test('a syntax error is reported as usual', async () => {
    const view = await python('import no_such_module\ndef f(:');
    expect(view).toMatchObject({ exitCode: 1, output: expect.stringContaining('SyntaxError') as string });
  });
});

describe('nodejs', () => {
  test('nothing runs, and modules, packages, lines and the next step are reported', async () => {
    const code =
      "console.log('now');\nconst a = require('no-such-package/part');\nconst b = require('@no-such/scope/x');\nrequire('fs').writeFileSync('ran-nodejs', '');";
    const view = await nodejs(code);
    expect(view).toMatchObject({
      exitCode: 69,
      missing: [
        { module: 'no-such-package/part', package: 'no-such-package', line: 2 },
        { module: '@no-such/scope/x', package: '@no-such/scope', line: 3 },
      ],
    });
    expect(view.output).toContain('npm install no-such-package @no-such/scope');
    expect(existsSync(join(t.cwd, 'ran-nodejs'))).toBe(false);
  });

  test('packages are found from the folder of the session, also those that only import may load', async () => {
    for (const [name, main] of [
      ['for-require', '"main": "index.js"'],
      ['for-import', '"type": "module", "exports": { ".": { "import": "./index.js" } }'],
    ] as const) {
      const folder = join(t.cwd, 'node_modules', name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'package.json'), `{ "name": "${name}", ${main} }`);
      writeFileSync(
        join(folder, 'index.js'),
        name === 'for-require' ? 'module.exports = 1' : 'export default 2',
      );
    }
    expect(await nodejs("console.log(require('for-require'))")).toMatchObject({ exitCode: 0, output: '1\n' });
    expect(await nodejs("import two from 'for-import'; console.log(two)")).toMatchObject({ output: '2\n' });
    expect(await nodejs("import x from 'for-nobody'; console.log(1)")).toMatchObject({ exitCode: 69 });
  });
});

describe('a script that is not checked', () => {
  const run = (code: string, runtime: Runtime): Promise<CommandView> => t.run(code, { runtime });

  // posit-dev/positron#14655
  test.each<[string, Runtime, string, string]>([
    [
      'a folder that the script adds to its path',
      'python',
      'import os, sys\nos.makedirs("src", exist_ok=True)\nopen("src/added_x.py", "w").write("V = 1")\nsys.path.insert(0, "src")\nimport added_x\nprint(added_x.V)',
      '1\n',
    ],
    [
      'a module that it writes',
      'python',
      'open("written_x.py", "w").write("Q = 5\\n")\nimport written_x\nprint(written_x.Q)',
      '5\n',
    ],
    [
      'a module that it makes',
      'python_script',
      'import sys, types\nsys.modules["made_x"] = types.SimpleNamespace(Q=6)\nimport made_x\nprint(made_x.Q)',
      '6\n',
    ],
    [
      'a package that it writes',
      'nodejs',
      'const fs = require("fs"); fs.mkdirSync("node_modules/written-x", { recursive: true });\nfs.writeFileSync("node_modules/written-x/index.js", "module.exports = 7");\nconsole.log(require("written-x"))',
      '7\n',
    ],
  ])('imports %s', async (_what, runtime, code, output) => {
    expect(await run(code, runtime)).toMatchObject({ exitCode: 0, output });
    const checked =
      runtime === 'nodejs' ? await nodejs(code) : await t.run(code, { runtime, checkImports: [] });
    expect(checked).toMatchObject({ exitCode: 0, output });
  });

  test.each<[Runtime, string, object, RegExp]>([
    [
      'python',
      'print("began")\nimport sklearn_x.y, PIL',
      { module: 'sklearn_x', package: 'sklearn_x', line: 2 },
      /^began\n.*ModuleNotFoundError: No module named 'sklearn_x'\nNot installed: sklearn_x \(line 2\)\. Next: .*\(python3 -m pip install sklearn_x\), then run the script again\.\n$/s,
    ],
    [
      'python_script',
      'print("began")\ndef f():\n    import umap.no_such_part\nf()',
      { module: 'umap', package: 'umap-learn', line: 3 },
      /^began\n.*Not installed: umap \(line 3\)\. .*pip install umap-learn/s,
    ],
    [
      'nodejs',
      'console.log("began");\nrequire("@no-such/scope/x")',
      { module: '@no-such/scope/x', package: '@no-such/scope', line: 2 },
      /^began\n.*MODULE_NOT_FOUND.*\nNot installed: @no-such\/scope\/x \(line 2\)\. .*\(npm install @no-such\/scope\)/s,
    ],
    [
      'nodejs',
      'console.log("never");\nimport x from "no-such-package"',
      { module: 'no-such-package', package: 'no-such-package', line: 2 },
      /ERR_MODULE_NOT_FOUND.*\nNot installed: no-such-package \(line 2\)\. /s,
    ],
  ])('in %s is told behind its error which package to install', async (runtime, code, missing, output) => {
    const view = await run(code, runtime);
    expect(view).toMatchObject({ exitCode: 1, missing: [missing] });
    expect(view.output).toMatch(output);
  });

  test.each<[string, Runtime, string, number]>([
    [
      'catches the error',
      'python',
      'try:\n    import no_such_x\nexcept ImportError:\n    print("without")',
      0,
    ],
    ['catches the error', 'nodejs', 'try { require("no-such-x") } catch { console.log("without") }', 0],
    ['lacks a part of what is there', 'python', 'import json.nowhere', 1],
    ['lacks a file of its own', 'nodejs', 'require("./nowhere")', 1],
    [
      'goes on behind its own handler',
      'nodejs',
      'process.on("uncaughtException", () => console.log("without")); require("no-such-x")',
      0,
    ],
  ])('that %s is told nothing (%s)', async (_what, runtime, code, exitCode) => {
    const view = await run(code, runtime);
    expect(view).toMatchObject({ exitCode });
    expect(view.output).not.toContain('Not installed');
    expect(view).not.toHaveProperty('missing');
  });
});

test('a command after one with missing imports has none, and the record keeps them', async () => {
  const id = 'with-missing';
  await t.run('import no_such_module', { runtime: 'python', checkImports: [], id });
  expect(await t.run('echo fine')).not.toHaveProperty('missing');
  expect(t.host.commandRecord(t.ref, id)?.missing).toHaveLength(1);
});

test('what a script writes there itself is taken for names only', async () => {
  const folder = sessionPaths(t.dataDir, t.ref).directory;
  const epoch = readdirSync(folder).find((name) => name.startsWith('epoch-')) ?? '';
  const written = (hasRun: boolean, module: string): string =>
    JSON.stringify({ hasRun, missing: [{ module, line: 1 }] });
  const forges = (text: string, exitCode: number): Promise<CommandView> =>
    t.run(
      `import os, __main__\nname = os.path.basename(__file__)[:-3]\nopen(${JSON.stringify(join(folder, epoch, 'answers'))} + "/" + name, "w").write(${JSON.stringify(text)})\nos._exit(${exitCode})`,
      { runtime: 'python' },
    );
  expect((await forges(written(true, 'fine'), 3)).missing).toHaveLength(1);
  for (const [text, exitCode] of [
    [written(true, 'a; rm -rf /'), 69],
    [written(true, '--index-url=x'), 3],
    [written(true, 'fine'), 0],
    // That nothing ran is believed only of a command that was to be checked.
    [written(false, 'fine'), 69],
  ] as const) {
    const view = await forges(text, exitCode);
    expect(view.exitCode).toBe(exitCode);
    expect(view).not.toHaveProperty('missing');
  }
});
