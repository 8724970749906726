// X3: if an import is not installed, nothing of the script runs, and the session says what is missing.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf } from '../../../../checks/javascript-imports';
import type { CommandView } from '../../../../contracts/sessions/session';
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
      'open("ran-python", "w")\nimport os, no_such_module\nfrom sklearn.nowhere import x\nimport no_such_module.part',
    );
    expect(view).toMatchObject({
      exitCode: 69,
      missing: [
        { module: 'no_such_module', package: 'no_such_module', line: 2 },
        { module: 'sklearn.nowhere', package: 'scikit-learn', line: 3 },
        { module: 'no_such_module.part', package: 'no_such_module', line: 4 },
      ],
    });
    expect(view.output).toBe(
      'missing_packages: The script imports modules that are not installed: no_such_module (line 2), sklearn.nowhere (line 3), ' +
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
    expect((await python('import beside_here, no_such_module')).output).not.toContain('imported\n');
    await t.run('cd ..; mkdir -p lib; echo > lib/on_path.py; export PYTHONPATH=$PWD/lib');
    expect(await python('import on_path')).toMatchObject({ exitCode: 0 });
  });

  test('a script that names its packages runs untouched, and one with a variable of that name does not', async () => {
    const script = (code: string): Promise<CommandView> =>
      t.run(code, { runtime: 'python_script', checkImports: [] });
    const bare = await script('# dependencies = ["no-such-module"]\nprint("began")\nimport no_such_module');
    expect(bare).toMatchObject({ exitCode: 1, output: expect.stringContaining('began') as string });
    expect(bare).not.toHaveProperty('missing');
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
      "require('fs').writeFileSync('ran-nodejs', '');\nconst a = require('no-such-package/part');\nconst b = require('@no-such/scope/x');";
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

  test('arguments are those of a plain script', async () => {
    expect(await nodejs('console.log(process.argv.length)')).toMatchObject({ output: '1\n' });
  });
});

test('imports are checked only on request', async () => {
  const view = await t.run('print("began")\nimport no_such_module', { runtime: 'python' });
  expect(view).toMatchObject({
    exitCode: 1,
    output: expect.stringMatching(/^began\n.*ModuleNotFoundError/s) as string,
  });
  expect(view).not.toHaveProperty('missing');
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
  const written = JSON.stringify([{ module: 'a; rm -rf /', package: '--index-url=x', line: 1 }]);
  const view = await python(
    `import glob, os\nlast = max(glob.glob(${JSON.stringify(join(folder, epoch))} + "/*.imports"), key=os.path.getmtime)\nopen(last.replace(".imports", ".missing"), "w").write(${JSON.stringify(written)})\nos._exit(69)`,
  );
  expect(view.exitCode).toBe(69);
  expect(view).not.toHaveProperty('missing');
});
