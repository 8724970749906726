// S9: nothing waits in a pager, and programs learn what terminal they have.
import { spawnSync } from 'node:child_process';
import { findOnPath } from '../../../../system/executable';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace } from '../session-processes';

let t: TestHost;
beforeAll(async () => {
  t = testHost();
  const setUp = await t.run(
    'git init -q repository && cd repository && git config user.name a && git config user.email a@b && ' +
      'for i in {1..100}; do git commit -q --allow-empty -m "commit $i"; done; seq 1 5000 > long && git add long && cd ..',
  );
  expect(setUp).toMatchObject({ exitCode: 0 });
});
afterAll(() => endWithoutTrace(t));

const SETTINGS = { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000 };
const inSession = (code: string): ReturnType<TestHost['run']> => t.run(code, { yield: SETTINGS });

test.each([
  ['git log', 'git -C repository log --format=%s | head -n 1000', /commit 100\n[^]*commit 1\n/],
  ['git log on the terminal', 'git -C repository log --format=%s', /commit 100\n[^]*commit 1\n/],
  ['git diff', 'git -C repository diff --cached', /\+5000\n/],
  ['git show', 'git -C repository show HEAD', /commit 100/],
  ['git help', 'git -C repository branch --list; git -C repository config --list', /user\.name=a/],
  ['PAGER', 'seq 1 5000 | $PAGER', /5000\n$/],
  ['python help()', `python3 -c 'help(str)'`, /class str/],
])('%s prints to its end and does not wait', async (_name, code, output) => {
  const view = await inSession(code);
  expect(view).toMatchObject({ state: 'exited', exitCode: 0, waiting: null });
  expect(view.output).toMatch(output);
  // eslint-disable-next-line no-control-regex -- escape sequences are the point
  expect(view.output).not.toMatch(/\x1b|\(END\)|--More--/);
});

/** An existing manual page: some systems install none. */
const manual =
  spawnSync('man', ['-w', 'bash']).status === 0
    ? 'bash'
    : spawnSync('man', ['-w', 'man']).status === 0
      ? 'man'
      : undefined;
(manual ? test : test.skip)(
  `man prints to its end and does not wait${manual ? '' : ' (not checked: no manual pages here)'}`,
  async () => {
    const view = await inSession(`man ${manual}`);
    expect(view).toMatchObject({ state: 'exited', exitCode: 0 });
    expect(view.to - view.from).toBeGreaterThan(1_000);
  },
);

for (const [program, args] of [
  ['systemctl', 'list-units --all'],
  ['journalctl', '-n 500'],
] as const) {
  const isHere = findOnPath(program, process.env.PATH) !== undefined;
  (isHere ? test : test.skip)(
    `${program} does not wait, with or without a system to ask${isHere ? '' : ' (not checked: it is not here)'}`,
    async () => {
      const view = await inSession(`${program} ${args}`);
      expect(view).toMatchObject({ state: 'exited' });
      expect(view.exitCode).not.toBe(127);
    },
  );
}

test('less, if a program insists on it, is reported as waiting and not as an end', async () => {
  const view = await t.run('command -v less >/dev/null && less repository/long || read -r x');
  expect(view).toMatchObject({ state: 'waiting_input', waiting: { certainty: 'certain' } });
  await t.host.reset(t.ref, { id: 'less', reason: null, by: 'reset' });
});

const SEEN = {
  TERM: 'xterm-256color',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  GH_PAGER: 'cat',
  SYSTEMD_PAGER: '',
  DEBIAN_FRONTEND: 'noninteractive',
  SHELL: '/bin/bash',
};
const lines = (values: readonly string[]): string => values.map((value) => `${value}\n`).join('');

test(`programs of every runtime see ${Object.keys(SEEN).join(', ')}`, async () => {
  const names = JSON.stringify(Object.keys(SEEN));
  const shell = await t.run(`for name in ${Object.keys(SEEN).join(' ')}; do printenv $name; done`);
  const python = await t.run(`import os\nfor name in ${names}: print(os.environ[name])`, {
    runtime: 'python',
  });
  const node = await t.run(`for (const name of ${names}) console.log(process.env[name])`, {
    runtime: 'nodejs',
  });
  const seen = lines(Object.values(SEEN));
  expect([shell.output, python.output, node.output]).toEqual([seen, seen, seen]);
});

test('the terminal has a size that programs can ask for, and wraps nothing below it', async () => {
  expect((await t.run('stty size; tput cols')).output).toMatch(/^(\d+) (\d+)\n\2\n$/);
});
