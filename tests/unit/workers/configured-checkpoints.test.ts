import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configurationSchema } from '../../../contracts/schemas/configuration/configuration';
import { MIB } from '../../../contracts/sessions/quotas';
import { DEFAULT_CHECKPOINTS } from '../../../contracts/workspaces/settings';
import {
  configuredCheckpoints,
  placesWithCheckpoints,
} from '../../../workers/configuration/configured-checkpoints';

test('limits are in the units of the file', () => {
  const { checkpoints } = configurationSchema.parse({
    checkpoints: { enabled: 'on', include: ['dist/'], max_file_mb: 1, max_files: 5, max_mb: 3, store_mb: 2 },
  });
  expect(configuredCheckpoints(checkpoints)).toEqual({
    ...{ enabled: 'on', include: ['dist/'], maxFiles: 5 },
    ...{ maxFileBytes: MIB, maxBytes: 3 * MIB, storeBytes: 2 * MIB },
  });
  expect(configuredCheckpoints(configurationSchema.parse({}).checkpoints)).toEqual(DEFAULT_CHECKPOINTS);
});

describe('by default', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-places-'));
  const repository = join(folder, 'repository', 'part');
  mkdirSync(repository, { recursive: true });
  mkdirSync(join(folder, 'repository', '.git'));
  writeFileSync(join(folder, 'repository', '.git', 'HEAD'), 'ref: refs/heads/main\n');
  const covered = join(folder, 'covered');
  mkdirSync(join(covered, '.git'), { recursive: true });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    [{ host: 'local', cwd: '/srv/project' }, folder, 'has them: the agent names it'],
    [{ host: 'far', cwd: '/srv/project' }, folder, 'has them: the agent names it'],
    [{ host: 'local', cwd: null }, folder, 'has none: all agents of the host share it'],
    [{ host: 'local', cwd: null }, repository, 'has them: it is in a repository'],
    [{ host: 'local', cwd: null }, covered, 'has none: a sandbox made the empty .git'],
    [{ host: 'far', cwd: null }, repository, 'has none: nobody here can look'],
  ])('%j beside %s %s', (place, workdir, why) => {
    const has = why.startsWith('has them');
    expect(placesWithCheckpoints(DEFAULT_CHECKPOINTS, workdir)(place)).toBe(has);
  });
});

test.each<[string, (git: string) => void]>([
  ['a link to itself', (git) => symlinkSync('.git', git)],
  [
    'a file that names a folder by too long a name',
    (git) => writeFileSync(git, `gitdir: ${'x'.repeat(300)}`),
  ],
])(
  '%s as .git in the shared folder costs no model’s answer: the checkpoint says why it is missing',
  (_, put) => {
    const workdir = mkdtempSync(join(tmpdir(), 'holdfast-places-'));
    put(join(workdir, '.git'));
    expect(placesWithCheckpoints(DEFAULT_CHECKPOINTS, workdir)({ host: 'local', cwd: null })).toBe(true);
    rmSync(workdir, { recursive: true });
  },
);

test.each([
  ['on', true],
  ['off', false],
] as const)('"%s" holds everywhere', (enabled, has) => {
  const hasCheckpoints = placesWithCheckpoints({ ...DEFAULT_CHECKPOINTS, enabled }, '/');
  expect(hasCheckpoints({ host: 'far', cwd: null })).toBe(has);
  expect(hasCheckpoints({ host: 'local', cwd: '/srv' })).toBe(has);
});
