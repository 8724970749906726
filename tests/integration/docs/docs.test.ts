// The snippets of docs/testing.md are tests: they run unchanged, with another runner and without our setup.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';

/** Below the package, so that its name leads to itself. */
const FOLDER = join(packageRoot(), 'dist', 'doc-snippets');

beforeEach(() => mkdirSync(FOLDER, { recursive: true }));
afterEach(() => rmSync(FOLDER, { recursive: true, force: true }));

function snippetsOf(page: string): { name: string; code: string }[] {
  const text = readFileSync(join(packageRoot(), 'docs', page), 'utf8');
  return [...text.matchAll(/^```ts\n\/\/ (\S+)\n(.*?)^```$/gms)].map(([, name = '', code = '']) => ({
    name,
    code,
  }));
}

test('every snippet about testing runs and passes', async () => {
  const snippets = snippetsOf('testing.md');
  for (const { name, code } of snippets) writeFileSync(join(FOLDER, name), code);
  const tests = snippets.map(({ name }) => name).filter((name) => name.endsWith('.test.mts'));
  expect(tests).toEqual(['agent.test.mts', 'nightly.test.mts', 'replay.test.mts']);
  const args = ['--test', '--test-concurrency=1', '--test-reporter=tap', ...tests];
  const env = { ...process.env };
  // Set by jest, and by our own setup: readers of the page have neither.
  for (const name of Object.keys(env)) if (/^(JEST_|HOLDFAST_TEST_|NODE_TEST)/.test(name)) delete env[name];
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: FOLDER, env }, (_err, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
  expect(output).toMatch(/^# fail 0$/m);
  expect(Number(/^# pass (\d+)$/m.exec(output)?.[1])).toBeGreaterThanOrEqual(2);
}, 120_000);
