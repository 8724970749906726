// Line settings that a program leaves behind are restored; those set by the session itself stay.
import { readFileSync } from 'node:fs';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace, holderOf, reset } from '../session-processes';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));
afterEach(() => reset(t));

const settings = async (): Promise<string> => (await t.run('stty -a </dev/tty')).output;

/** Answers a `read` as a caller does. */
async function readsLine(): Promise<void> {
  expect(await t.run('read -r line; echo "got $line"')).toMatchObject({ state: 'waiting_input' });
  await t.host.input(t.ref, { id: `${Math.random()}`, text: 'words', keys: [] });
  expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 })).toMatchObject({
    state: 'exited',
    output: expect.stringContaining('got words\n') as string,
  });
}

test.each([
  ['Python program', `python3 -c 'import tty; tty.setraw(0)'`],
  ['program that was killed', `python3 -c 'import os, tty; tty.setraw(0); os.kill(os.getpid(), 9)'`],
  ['program that was stopped', `python3 -c 'import os, tty; tty.setraw(0); os.kill(os.getpid(), 19)'`],
  ['program in a pipeline', `python3 -c 'import tty; tty.setraw(0)' | cat`],
  ['script that runs stty', `bash -c 'stty raw -echo'`],
])('a %s that leaves raw mode behind does not keep the next command from reading a line', async (_, code) => {
  const usual = await settings();
  await t.run(code);
  expect(await settings()).toBe(usual);
  await t.run(code);
  await readsLine();
});

test('code of another runtime that leaves raw mode behind does not keep the next command from reading', async () => {
  await t.run('import tty; tty.setraw(0)', { runtime: 'python' });
  await readsLine();
});

test.each([
  ['-echo', /(?<!\S)-echo(?!\S)/],
  ['erase ^H', /erase = \^H;/],
  ['ixon', /(?<!\S)ixon(?!\S)/],
  ['intr ^G', /intr = \^G;/],
])(
  '`stty %s` of the session stays, through programs that leave others, and through typing',
  async (what, shown) => {
    expect(await settings()).not.toMatch(shown);
    await t.run(`stty ${what}`);
    expect(await settings()).toMatch(shown);
    await t.run(`python3 -c 'import tty; tty.setraw(0)'`);
    expect(await settings()).toMatch(shown);
    await readsLine();
    expect(await settings()).toMatch(shown);
  },
);

test.each(['(stty -echo)', 'quiet() { stty -echo; }; quiet', 'stty -echo | cat', 'set -eu; stty -echo'])(
  'settings stay that were made by `%s`',
  async (code) => {
    await t.run(code);
    await t.run('ls /');
    expect(await settings()).toMatch(/(?<!\S)-echo(?!\S)/);
  },
);

test('`stty sane` and a reset lead back to the usual settings', async () => {
  const usual = await settings();
  await t.run('stty -echo');
  await t.run('stty sane');
  expect(await settings()).toBe(usual);
  await t.run('stty -echo');
  await reset(t);
  expect(await settings()).toBe(usual);
});

test('to look at the settings is not to keep them, and stty answers and fails as it does elsewhere', async () => {
  await t.run(`python3 -c 'import tty; tty.setraw(0)'; stty -a; stty -g; stty; stty size`);
  await readsLine();
  expect(await t.run('stty size')).toMatchObject({ output: '40 120\n', exitCode: 0 });
  expect(await t.run('stty -nonsense 2>/dev/null')).toMatchObject({ exitCode: 1 });
  expect(await t.run('saved=$(stty -g); stty -echo; stty "$saved"; echo $?')).toMatchObject({
    output: '0\n',
  });
});

test('a command that runs no program costs no look at the settings, and one that does costs one', async () => {
  const processes = (): string => {
    const stat = readFileSync(`/proc/${holderOf(t)}/stat`, 'utf8');
    // Page faults of the processes that it has waited for.
    return stat.slice(stat.lastIndexOf(')')).split(' ')[9] ?? '';
  };
  await t.run('ls /');
  // What the next command waits for is done when it has begun.
  await t.run(':');
  const before = processes();
  await t.run('x=1');
  await t.run('x=2');
  expect(processes()).toBe(before);
  await t.run('ls /');
  await t.run(':');
  expect(processes()).not.toBe(before);
});
