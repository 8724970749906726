import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';

// The thread says where it looks for compiled code.
const PROGRAM = `
  require('./dist/system/compile-cache.js');
  const { Worker } = require('node:worker_threads');
  const said = "require('node:fs').writeSync(1, String(require('node:module').getCompileCacheDir()))";
  new Worker(said, { eval: true });
`;

test('a thread finds the compiled code that its process keeps, as the one that runs workflows does', () => {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-home-'));
  try {
    const env = { PATH: process.env.PATH, HOME: home };
    const options = { cwd: packageRoot(), env, encoding: 'utf8' } as const;
    const folder = execFileSync(process.execPath, ['-e', PROGRAM], options);
    expect(folder).toMatch(new RegExp(`^${join(home, '.cache', 'holdfast', 'compiled')}/`));
  } finally {
    rmSync(home, { recursive: true });
  }
});
