// S1, S9: what persists in a session, what its shells begin with, and what no other session sees.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { testHost, type TestHost } from '../../../helpers/session-host';
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
