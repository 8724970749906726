// The files that a session sees, on a host with given files.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { bubblewrapCommand } from '../../../../exec/sandbox/bubblewrap';
import { limitCommand } from '../../../../exec/sandbox/limits';
import { lastingCovers, mountsOf, type Access, type Look } from '../../../../exec/sandbox/mounts';
import { packageRoot } from '../../../../system/package-root';
import { isWithin } from '../../../../exec/real-path';
import { packageParts, writableFaults, type SandboxProfile } from '../../../../exec/sandbox/profile';

const PROFILE: SandboxProfile = {
  kind: 'bubblewrap',
  programs: { bwrap: '/usr/bin/bwrap', mkfifo: '/usr/bin/mkfifo', stty: '/usr/bin/stty' },
  path: '/usr/bin',
  workspace: '/home/me/data/work',
  home: '/home/me',
  dataDir: '/home/me/data',
  network: 'none',
  git: 'read-only',
  writable: [],
  readable: [],
  hidden: [],
  loaded: [],
  variables: {},
  shown: [],
  limits: {},
};

const ALWAYS_THERE = ['/home', '/home/me', '/home/me/data', '/home/me/data/work', '/tmp', '/run', '/opt'];

function host(
  files: readonly string[] = [],
  folders: readonly string[] = [],
  open: readonly string[] = [],
): Look {
  return {
    kind: (path) =>
      [...files, ...open].includes(path)
        ? 'file'
        : [...ALWAYS_THERE, ...folders].includes(path)
          ? 'folder'
          : undefined,
    sockets: () => open,
  };
}

const rules = (changes: Partial<SandboxProfile>, look: Look): Record<string, Access> =>
  Object.fromEntries(mountsOf({ ...PROFILE, ...changes }, look).map(({ path, access }) => [path, access]));

test('home, data and sockets are out of sight, the workspace in them is not', () => {
  const seen = rules({}, host([], ['/home/me/.ssh', '/home/me/.cargo'], ['/opt/service.sock']));
  expect(seen).toEqual({
    '/home': 'hidden',
    '/run': 'hidden',
    '/tmp': 'private',
    '/home/me': 'private',
    '/home/me/.cargo': 'read',
    '/home/me/data': 'hidden',
    '/home/me/data/work': 'write',
    '/home/me/data/work/.git': 'hidden',
    '/opt/service.sock': 'hidden',
  });
});

test.each(['/home/me/src', '/tmp/a b ü', '/opt/src', '/home/other/src'])(
  'what sessions need of this package is shown wherever it lies: in %s',
  (root) => {
    const shown = [`${root}/dist`, `${root}/exec/shell`];
    const seen = rules({ shown }, host([], ['/home/other', root, ...shown]));
    expect(seen).toMatchObject({ [`${root}/dist`]: 'read', [`${root}/exec/shell`]: 'read' });
    expect(seen).not.toHaveProperty([root]);
  },
);

test('parents come before their contents, whatever order they are given in', () => {
  const paths = mountsOf({ ...PROFILE, writable: ['/opt/a/b', '/opt'] }, host([], ['/opt/a/b'])).map(
    ({ path }) => path,
  );
  const late = paths.filter((path, at) => paths.slice(0, at).some((before) => before.startsWith(`${path}/`)));
  expect(late).toEqual([]);
});

test.each([
  ['read-only', 'a folder', ['/opt/.git', '/opt/.git/hooks'], { '/opt/.git': 'read' }],
  ['read-only', 'missing', [], { '/opt/.git': 'hidden' }],
  [
    'writable',
    'a folder',
    ['/opt/.git', '/opt/.git/hooks'],
    { '/opt/.git': 'write', '/opt/.git/hooks': 'read' },
  ],
  ['writable', 'without hooks', ['/opt/.git'], { '/opt/.git': 'write', '/opt/.git/hooks': 'hidden' }],
  ['writable', 'missing', [], {}],
] as const)('with git %s a repository that is %s is protected', (git, _what, folders, expected) => {
  const seen = Object.entries(rules({ git, workspace: '/opt' }, host([], folders)));
  expect(Object.fromEntries(seen.filter(([path]) => path.startsWith('/opt/')))).toEqual(expected);
});

test('what a person hides is hidden in the workspace too', () => {
  const look = host(['/home/me/data/work/.env']);
  const seen = mountsOf({ ...PROFILE, hidden: ['/home/me/data/work/.env'] }, look);
  expect(seen.at(-1)).toEqual({ path: '/home/me/data/work/.env', access: 'hidden', isFolder: false });
});

test('folders between a writable place and what is covered in it cannot be renamed, and no others are mounted', () => {
  const look = host(['/opt/a/b/key'], ['/opt/a', '/opt/a/b', '/opt/c', '/opt/c/d', '/opt/c/d/e']);
  const hidden = ['/opt/a/b/key', '/opt/c', '/opt/c/d/e'];
  const seen = Object.entries(rules({ workspace: '/opt', hidden }, look));
  expect(Object.fromEntries(seen.filter(([path]) => /^\/opt\/[ac]/.test(path)))).toEqual({
    '/opt/a': 'write',
    '/opt/a/b': 'write',
    '/opt/a/b/key': 'hidden',
    '/opt/c': 'hidden',
    '/opt/c/d/e': 'hidden',
  });
});

test('what is loaded outside is read-only where it could be written, stays missing if it is missing there, and is not touched elsewhere', () => {
  const look = host(['/opt/holdfast.toml', '/srv/key'], ['/opt', '/srv', '/opt/lib']);
  const loaded = [
    '/opt/holdfast.toml',
    '/opt/lib/node_modules',
    '/opt/none/roles',
    '/srv/key',
    '/home/me/data/x',
  ];
  const seen = Object.entries(rules({ workspace: '/opt', loaded }, look));
  expect(Object.fromEntries(seen.filter(([path]) => /^\/(opt|srv)|data\/x$/.test(path)))).toEqual({
    '/opt': 'write',
    '/opt/.git': 'hidden',
    '/opt/holdfast.toml': 'read',
    '/opt/lib': 'write',
    '/opt/lib/node_modules': 'hidden',
    '/opt/none': 'hidden',
  });
});

test('all of this package that is not compiled into dist is among what is loaded', () => {
  const root = packageRoot();
  const parts = packageParts();
  const files = ['bin', 'exec', 'checks', 'tools', 'engine', 'workers', 'contracts', 'models', 'cli'].flatMap(
    (name) =>
      readdirSync(join(root, name), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
        .map((entry) => join(entry.parentPath, entry.name)),
  );
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((file) => !parts.some((part) => isWithin(file, part)))).toEqual([]);
});

test('what people replace every day, and thereby uncover, is known; sockets and what is outside are not included', () => {
  const look = host(
    ['/opt/key', '/etc/shadow'],
    ['/opt/secret', '/etc', '/srv', '/srv/secret'],
    ['/opt/s.sock'],
  );
  const hidden = ['/opt/key', '/opt/secret', '/srv/secret'];
  const mounts = mountsOf({ ...PROFILE, workspace: '/opt', hidden }, look);
  expect(lastingCovers(mounts, look).sort()).toEqual(['/etc/shadow', '/opt/.git', '/opt/key', '/opt/secret']);
});

test('folders that hold the home folder, the system or our data may not be writable', () => {
  const faults = (workspace: string): number => writableFaults({ ...PROFILE, workspace }).length;
  expect(['/', '/home', '/home/me', '/etc', '/home/me/data', '/home/me/data/sessions'].map(faults)).toEqual([
    1, 1, 1, 1, 1, 1,
  ]);
  expect(['/home/me/data/work', '/home/me/project', '/opt'].map(faults)).toEqual([0, 0, 0]);
});

test('network is cut unless it is asked for', () => {
  const inside = { mounts: [], cwd: '/opt' };
  expect(bubblewrapCommand(PROFILE, inside)).toContain('--unshare-net');
  expect(bubblewrapCommand({ ...PROFILE, network: 'full' }, inside)).not.toContain('--unshare-net');
});

test('with named hosts it is cut too, unless it was started in the one that leads to them', () => {
  const named = { ...PROFILE, network: ['pypi.org'] };
  const inside = { mounts: [], cwd: '/opt' };
  expect(bubblewrapCommand(named, inside)).toContain('--unshare-net');
  const command = bubblewrapCommand(named, { ...inside, isEntered: true });
  expect(command).not.toContain('--unshare-net');
  expect(command.join(' ')).toContain('--setenv https_proxy http://127.0.0.1:3128');
});

test('limits are set in their units, and nothing is run if there are none', () => {
  expect(limitCommand({})).toEqual([]);
  expect(limitCommand({ processes: 9, memoryMb: 2, cpuSec: 3, fileMb: 1, openFiles: 64 })).toEqual([
    ...['prlimit', '--nproc=9', '--data=2097152', '--cpu=3', '--fsize=1048576', '--nofile=64', '--'],
  ]);
});
