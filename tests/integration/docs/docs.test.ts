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

/** The first assertion of each is preceded by one that fails. */
const failing = (code: string): string =>
  code.replace(/^ {2}(?=assert\w*[.(])/m, "  assert.fail('planted');\n  ");

/** Three environments, one after the other. */
const LONGEST_MS = 90_000;

/** What the test runner says of them; it has no last word if a file's process does not end by itself. */
async function run(snippets: { name: string; code: string }[]): Promise<string> {
  for (const { name, code } of snippets) writeFileSync(join(FOLDER, name), code);
  const tests = snippets.map(({ name }) => name).filter((name) => name.endsWith('.test.mts'));
  expect(tests).toEqual(['agent.test.mts', 'nightly.test.mts', 'replay.test.mts']);
  const args = ['--test', '--test-concurrency=1', '--test-reporter=tap', ...tests];
  const env = { ...process.env };
  // Set by jest, and by our own setup: readers of the page have neither.
  for (const name of Object.keys(env)) if (/^(JEST_|HOLDFAST_TEST_|NODE_TEST)/.test(name)) delete env[name];
  return new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: FOLDER, env, timeout: LONGEST_MS }, (_err, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}

const countIn = (output: string, of: string): number =>
  Number(new RegExp(`^# ${of} (\\d+)$`, 'm').exec(output)?.[1]);

test('every snippet about testing runs and passes', async () => {
  const output = await run(snippetsOf('testing.md'));
  expect(output).toMatch(/^# fail 0$/m);
  expect(countIn(output, 'pass')).toBeGreaterThanOrEqual(2);
}, 120_000);

test('an assertion that fails in a snippet about testing fails its test, and its process ends all the same', async () => {
  const snippets = snippetsOf('testing.md').map(({ name, code }) => ({ name, code: failing(code) }));
  const output = await run(snippets);
  const planted = output.match(/^ *error: 'planted'$/gm) ?? [];
  expect(planted.length).toBeGreaterThanOrEqual(2);
  expect([countIn(output, 'fail'), countIn(output, 'cancelled')]).toEqual([planted.length, 0]);
}, 120_000);
