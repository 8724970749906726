// What is piped into `holdfast exec`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../../system/package-root';
import { EngineOfItsOwn } from '../../../helpers/engines/engine-of-its-own';

jest.setTimeout(120_000);

const engine = new EngineOfItsOwn();
beforeAll(() => engine.start(), 60_000);
afterAll(async () => expect(await engine.end()).toEqual([]), 60_000);

const BIN = join(packageRoot(), 'bin', 'holdfast.js');
const environment = (): NodeJS.ProcessEnv => ({ ...process.env, HOLDFAST_DATA: engine.dataDir });
/** By a shell's pipe or redirection: `… | holdfast exec …`. */
function sh(line: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const holdfast = `"${process.execPath}" "${BIN}" exec`;
  return spawnSync('bash', ['-c', line.replace('HOLDFAST', holdfast), 'bash', ...args], {
    ...{ encoding: 'utf8', cwd: engine.dataDir, env: environment() },
  });
}

test.each([
  ['lines', 'printf "one\\ntwo\\n" | HOLDFAST "wc -c"', /(^|\n)8\n$/],
  ['a last line without an end', 'printf hello | HOLDFAST "wc -c"', /5\n$/],
  ['nothing', ': | HOLDFAST "wc -c"', /(^|\n)0\n$/],
  ['a file', 'echo hello > f; HOLDFAST "wc -c" < f', /\n6\n$/],
  ['more than a terminal takes at once', 'seq 1500 | HOLDFAST "tail -n 1 | sed s/^/last:/"', /last:1500\n$/],
])('input that is piped into it is typed, with its end: %s', (_what, line, output) => {
  const { status, stdout, stderr } = sh(line);
  expect(stderr).toBe('');
  expect(stdout).toMatch(output);
  expect(status).toBe(0);
});

test('an answer without an end goes to what asks, and its exit code is passed on', () => {
  const { status, stdout } = sh('yes no | HOLDFAST \'read -p "sure? " x; echo "got $x"; exit 5\'');
  expect(stdout).toContain('got no\n');
  expect(status).toBe(5);
  expect(sh('HOLDFAST "echo next" < /dev/null').stdout).toBe('next\n');
});

test.each([
  ['binary data', "printf 'a\\x03b\\n' | HOLDFAST cat"],
  ['a line that no terminal takes', "printf '%05000d\\n' 1 | HOLDFAST cat"],
])('%s is refused with what to do, and the session is free again', (_what, line) => {
  const { status, stderr } = sh(line);
  expect(stderr).toContain('holdfast cp -');
  expect(status).toBe(64);
  expect(sh('HOLDFAST "echo next" < /dev/null').stdout).toBe('next\n');
});

test('a command that does not read leaves the input of a loop alone', () => {
  const { stdout } = sh('printf "1\\n2\\n3\\n" | while read -r n; do HOLDFAST "echo got $n"; done');
  expect(stdout).toBe('got 1\ngot 2\ngot 3\n');
});

test('JSON has the whole output of the command that was typed into', () => {
  const { stdout } = sh('echo hello | HOLDFAST --json "wc -c"');
  expect(JSON.parse(stdout)).toMatchObject({ state: 'exited', exitCode: 0, output: 'hello\n6\n' });
});

test('a program that keeps our input open and writes nothing does not keep us', async () => {
  const child = spawn(process.execPath, [BIN, 'exec', '--session', '7', 'cat'], {
    ...{ env: environment(), cwd: engine.dataDir, stdio: ['pipe', 'pipe', 'pipe'] },
  });
  let told = '';
  child.stderr.on('data', (data: Buffer) => (told += data.toString()));
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(told).toContain('waits for input');
  expect((await engine.cliInTurn(['reset', '--session', '7'])).code).toBe(0);
});

test('"-" is the code from stdin, in each language', () => {
  expect(sh("printf 'x=4\\necho $((x + 1))\\n' | HOLDFAST -").stdout).toBe('5\n');
  writeFileSync(join(engine.dataDir, 'script.py'), 'for n in range(2):\n    print(n)\n');
  const { stdout } = sh('HOLDFAST --session 3 --runtime python - < script.py');
  expect(stdout).toMatch(/^0\n1\n/);
});
