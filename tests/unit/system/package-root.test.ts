// Where the package is installed, for a process that outlives an update of it: run as it is compiled, elsewhere.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledEntry } from '../../../system/package-root';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-root-'));
  mkdirSync(join(folder, 'package', 'dist'), { recursive: true });
  copyFileSync(compiledEntry('system/package-root.js'), join(folder, 'package', 'dist', 'root.js'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What the code prints, within seconds. */
const print = (code: string): string =>
  execFileSync(process.execPath, ['-e', code], { cwd: folder, encoding: 'utf8', timeout: 10_000 });

test('a process knows where its package was, even while an update has moved it away', () => {
  writeFileSync(join(folder, 'package', 'package.json'), '{}');
  const code = `const { packageRoot } = require('./package/dist/root.js');
require('fs').renameSync('package', 'moved');
console.log(packageRoot());`;
  expect(print(code)).toBe(`${join(folder, 'package')}\n`);
});

test('where there is no package, the search for one ends with an error', () => {
  const code = `const { packageRoot } = require('./package/dist/root.js');
try { console.log(packageRoot()) } catch (err) { console.log(err.message) }`;
  expect(print(code)).toBe(`no package.json in ${join(folder, 'package', 'dist')} or above it\n`);
});
