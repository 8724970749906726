// `holdfast check` as people and scripts call it: the real command line, no server.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'holdfast-check-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Result {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** @param input of stdin */
function check(args: string[], input = ''): Promise<Result> {
  // A data folder that is not there: it must not be needed, nor made.
  const env = { ...process.env, HOLDFAST_DATA: join(folder, 'no-data') };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(packageRoot(), 'bin', 'holdfast.js'), 'check', ...args],
      { cwd: folder, env },
      (_err, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}

test('findings are printed with place, rule, reason and excerpt, and exit with 1', async () => {
  writeFileSync(join(folder, 'deploy.sh'), 'ls\nrm -rf "/" \n');
  expect(await check(['deploy.sh'])).toEqual({
    code: 1,
    stdout: 'deploy.sh:2:1 destructive it removes / with all that is in it\n    rm -rf "/"\n',
    stderr: '',
  });
});

test('code without findings exits with 0, even if it does not parse', async () => {
  writeFileSync(
    join(folder, 'fine.mjs'),
    "import fs from 'node:fs';\nfs.rmSync('dist', { recursive: true });\n",
  );
  expect(await check(['fine.mjs'])).toEqual({ code: 0, stdout: '', stderr: 'nothing found\n' });
  const result = await check(['--runtime', 'nodejs', '-'], 'function (');
  expect(result).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/^not checked: /) as string,
  });
});

test('the language of stdin is that of its first line, and --json gives the report', async () => {
  const result = await check(['--json', '-'], '#!/usr/bin/env python3\nimport os\nos.system("rm -rf /")\n');
  expect(result.code).toBe(1);
  expect(JSON.parse(result.stdout)).toMatchObject({
    file: '-',
    runtime: 'python',
    verdicts: [{ rule: 'destructive', language: 'python', line: 3, column: 12 }],
    unparsed: null,
  });
});

test('errors of our own exit above 64 and name the next step', async () => {
  expect(await check(['nothing-there.sh'])).toMatchObject({
    code: 66,
    stderr: expect.stringContaining('not_found') as string,
  });
  expect(await check(['-'], 'ls')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('--runtime') as string,
  });
});

test('a hostile excerpt does nothing to the terminal', async () => {
  const { stdout } = await check(
    ['--runtime', 'terminal', '-'],
    'rm -rf / "\x1b]52;c;aGk=\x07\x1b[2J\x9b5n"',
  );
  expect(stdout).toContain('rm -rf /');
  // eslint-disable-next-line no-control-regex -- control characters are the point
  expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
});
