// S1, S9: what persists in a session, what its shells begin with, and what no other session sees.
import { testHost, type TestHost } from '../../helpers/session-host';
import { endWithoutTrace } from './session-processes';

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
    const view = await fresh.run(`env | grep -c ${secret}; tr '\\0' '\\n' < /proc/$$/environ | grep -c ${secret}`);
    expect(view.output).toBe('0\n0\n');
  } finally {
    delete process.env[secret];
    await endWithoutTrace(fresh);
  }
});

test('no descriptor of the holder reaches a command', async () => {
  expect((await t.run('ls /proc/self/fd | head -c 20')).output).toBe('0\n1\n2\n3\n');
});

test('what git and man print does not wait in a pager', async () => {
  const view = await t.run('cd "$(mktemp -d)" && git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && git log --format=%s');
  expect(view).toMatchObject({ state: 'exited', exitCode: 0, output: 'first\n' });
});
