// S15: the ability to end a whole tree does not hinder programs: installers and changes of user work in a session.
import { spawnSync } from 'node:child_process';
import { findOnPath } from '../../../../system/executable';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace } from '../session-processes';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

const has = (program: string): boolean => findOnPath(program, process.env.PATH) !== undefined;
const isRoot = process.getuid?.() === 0;

const asRoot: [program: string, code: string, output: RegExp][] = [
  ['su', `su -s /bin/sh nobody -c 'id -un; echo "$((6 * 7))"'`, /^nobody\n42\n$/],
  ['runuser', `runuser -u nobody -- id -un`, /^nobody\n$/],
  ['setpriv', `setpriv --reuid=65534 --regid=65534 --clear-groups id -u`, /^65534\n$/],
  ['sudo', `sudo -n -u nobody id -un`, /nobody\n$/],
  ['chown', `touch mine && chown nobody mine && stat -c %U mine`, /^nobody\n$/],
  ['apt-get', `apt-get --version | head -n 1`, /^apt /],
  ['apt-get', `apt-get -s install bash`, /bash is already the newest version|Inst bash|0 upgraded/],
  ['dpkg', `dpkg -l bash | tail -n 1`, /^ii +bash/],
  ['unshare', `unshare --pid --fork --mount-proc sh -c 'ps -o pid= | head -n 1 | tr -d " "'`, /^1\n$/],
];
for (const [program, code, output] of asRoot) {
  const missing = !isRoot ? 'not root' : has(program) ? undefined : `no ${program} here`;
  (missing ? test.skip : test)(
    `as root ${code} runs as it does outside${missing ? ` (not checked: ${missing})` : ''}`,
    async () => {
      const view = await t.run(code);
      expect(view).toMatchObject({ state: 'exited', exitCode: 0 });
      expect(view.output).toMatch(output);
    },
  );
}

/** A wheel is a zip with a record of itself (PEP 427): made here, so that nothing is fetched. */
const WHEEL = `
import zipfile
with zipfile.ZipFile('tiny_package-1.0-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('tiny_package.py', 'answer = 42\\n')
    info = 'tiny_package-1.0.dist-info/'
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: tiny-package\\nVersion: 1.0\\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(info + 'RECORD', '')`;

const pip = spawnSync('python3', ['-m', 'pip', '--version']).status === 0;
(pip ? test : test.skip)(
  `pip installs a package that a later command imports${pip ? '' : ' (not checked: no pip here)'}`,
  async () => {
    await t.run(WHEEL, { runtime: 'python' });
    const view = await t.run(
      'python3 -m pip install --no-index --disable-pip-version-check --target installed ./tiny_package-1.0-py3-none-any.whl',
    );
    expect(view).toMatchObject({ state: 'exited', exitCode: 0 });
    expect(view.output).toContain('Successfully installed tiny-package-1.0');
    await t.run('export PYTHONPATH=$PWD/installed');
    expect((await t.run('import tiny_package\ntiny_package.answer', { runtime: 'python' })).output).toBe(
      '42\n',
    );
  },
  90_000,
);

test('processes see their own terminal, their folder in /proc and each other', async () => {
  const view = await t.run(
    'tty; sleep 5 & kill -0 $! && echo child; [ -d /proc/$$ ] && echo proc; kill $!; test -t 0 -a -t 1 -a -t 2 && echo terminal',
  );
  expect(view.output).toMatch(/^\/dev\/pts\/\d+\n(.*\n)*child\nproc\nterminal\n$/);
});
