// S1, S9: what persists in a session, what its shells begin with, and what no other session sees.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace } from '../session-processes';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

test('environment, folder, functions and exports persist between commands of a session', async () => {
  await t.run('cd /; export A=1; b() { echo "b $A"; }');
  expect((await t.run('pwd; b')).output).toBe('/\nb 1\n');
});

test('another session does not see them', async () => {
  await t.run('export ONLY_HERE=1');
  const other = { ...t.ref, session: 1 };
  expect((await t.run('echo "[$ONLY_HERE]"', { ref: other })).output).toBe('[]\n');
});

test.each([
  ['TERM', 'xterm-256color'],
  ['NO_COLOR', '1'],
  ['PAGER', 'cat'],
  ['GIT_PAGER', 'cat'],
  ['MANPAGER', 'cat'],
])('%s is set as agents need it', async (name, value) => {
  expect((await t.run(`printenv ${name}`)).output).toBe(`${value}\n`);
});

test('no credential of the worker reaches a session', async () => {
  const secret = 'HOLDFAST_TEST_SECRET';
  process.env[secret] = 'hunter2';
  const fresh = testHost();
  try {
    const view = await fresh.run(
      `env | grep -c ${secret}; tr '\\0' '\\n' < /proc/$$/environ | grep -c ${secret}`,
    );
    expect(view.output).toBe('0\n0\n');
  } finally {
    delete process.env[secret];
    await endWithoutTrace(fresh);
  }
});

describe('a shell goes on with the next command', () => {
  test.each([
    ['has unset all variables', 'for v in $(compgen -v); do unset "$v" 2>/dev/null; done; echo out'],
    ['has unset those of its driver', 'unset ${!__hf_*} 2>/dev/null; echo out'],
    ['has made PROMPT_COMMAND readonly', 'readonly PROMPT_COMMAND=:; echo out'],
  ])('after one that %s', async (_what, code) => {
    const ref = { ...t.ref, session: 2 };
    expect(await t.run(code, { ref })).toMatchObject({ output: 'out\n', exitCode: 0 });
    expect(await t.run('echo next; (exit 7)', { ref })).toMatchObject({ output: 'next\n', exitCode: 7 });
    await t.host.close(ref, 'done');
  });
});

test('a trace shows what commands do, and not what the driver of their shell does', async () => {
  const ref = { ...t.ref, session: 3 };
  await t.run('PS4="+ "; set -x', { ref });
  const { output } = await t.run('echo traced', { ref });
  const lines = output.replaceAll(/^\++ /gm, '').split('\n');
  expect(lines[0]).toMatch(/^builtin \. \S+$/);
  expect(lines.slice(1)).toEqual(['echo traced', 'traced', '']);
});

test('no descriptor of the holder or of the process that started it reaches a command', async () => {
  const fresh = testHost();
  const dist = join(__dirname, '..', '..', '..', '..', 'dist', 'exec', 'host', 'session-host.js');
  const begin = `const { SessionHost } = require(process.argv[1]);
    const [options, ref] = process.argv.slice(2).map((arg) => JSON.parse(arg));
    new SessionHost(options).run(ref, { id: 'begin', runtime: 'terminal', code: ':' }).then(() => process.exit());`;
  const args = [dist, JSON.stringify(fresh.host.options), JSON.stringify(fresh.ref)];
  try {
    // Like a worker that inherited a descriptor without close-on-exec.
    execFileSync('bash', [
      '-c',
      'exec 251</dev/null; exec "$@"',
      'bash',
      process.execPath,
      '-e',
      begin,
      ...args,
    ]);
    await fresh.until({ kind: 'exit', from: 0, timeoutMs: 30_000 });
    expect((await fresh.run('ls /proc/self/fd | tr "\\n" " "')).output).toBe('0 1 2 3 ');
  } finally {
    await endWithoutTrace(fresh);
  }
});

test('what git and man print does not wait in a pager', async () => {
  const view = await t.run(
    'cd "$(mktemp -d)" && git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && git log --format=%s',
  );
  expect(view).toMatchObject({ state: 'exited', exitCode: 0, output: 'first\n' });
});
