// `npm ci && npm test` is green on a machine that has Node and little else: what needs another program is skipped.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../system/package-root';
import { missingOf, PACKAGES, pathOf } from '../helpers/run/programs';

const root = packageRoot();
const tests = join(root, 'tests');
const runner = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
const programs = Object.keys(PACKAGES);

test('no test starts a program that a machine may lack by its name, or looks for it in a way of its own', () => {
  const starts = String.raw`\b(spawn|spawnSync|execFile|execFileSync|findOnPath|run)\(\s*\[?['"\`]`;
  const direct = new RegExp(`${starts}(${programs.join('|')})['"\` ]`);
  const files = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(ts|js|mjs)$/.test(name),
  );
  expect(files.length).toBeGreaterThan(400);
  expect(files.filter((name) => direct.test(readFileSync(join(tests, name), 'utf8')))).toEqual([]);
});

test('a program that no test has asked for is refused, also on a machine that has it', () => {
  expect(() => pathOf('tmux')).toThrow("Tests that start tmux say so: fileNeeds('tmux')");
  if (missingOf('tmux') === undefined) expect(pathOf('tmux')).toMatch(/tmux$/);
});

test('without a program that its file needs no test of it runs, nor a hook, and each says what is missing', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-needs-')));
  try {
    const file = join(folder, 'needs.test.ts');
    writeFileSync(
      file,
      `import { fileNeeds } from ${JSON.stringify(join(tests, 'helpers', 'run', 'programs'))};
fileNeeds('rg');
beforeAll(() => { throw new Error('ran'); });
test('outside', () => { throw new Error('ran'); });
describe('group', () => { test.concurrent('inside', () => { throw new Error('ran'); }); });
test.skip('skipped anyway', () => undefined);`,
    );
    const config = {
      rootDir: folder,
      testEnvironment: join(tests, 'helpers', 'run', 'patient-environment.js'),
      globals: { PATIENCE: 1 },
      testMatch: [file],
      transform: {
        '^.+\\.ts$': [require.resolve('@swc/jest'), { jsc: { parser: { syntax: 'typescript' } } }],
      },
    };
    const args = [runner, '--config', JSON.stringify(config), '--json'];
    const { stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: folder, HOME: folder },
    });
    if (!stdout) throw new Error(stderr);
    const { testResults } = JSON.parse(stdout) as {
      testResults: { message: string; assertionResults: { status: string; fullName: string }[] }[];
    };
    const why = '(not checked: no rg: install ripgrep)';
    expect(testResults[0]?.message).toBe('');
    expect(testResults[0]?.assertionResults.map(({ status, fullName }) => [status, fullName])).toEqual([
      ['pending', `outside ${why}`],
      ['pending', `group inside ${why}`],
      ['pending', 'skipped anyway'],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const bare = join(root, '.ci', 'bare');
const { status } = spawnSync(bare, ['true']);
(status === 0 ? test : test.skip)(
  `under .ci/bare none of them is there${status === 0 ? '' : ' (not checked: no mount namespace can be made here)'}`,
  () => {
    const script = `for one in ${programs.join(' ')}; do command -v "$one" || test ! -e /usr/sbin/"$one"; done; true`;
    expect(execFileSync(bare, ['bash', '-c', script], { encoding: 'utf8' })).toBe('');
  },
);
