// Which of the host's files a session sees, as one rule per path; the nearest rule wins. Pure except for `look`, which
// inspects paths.
import { dirname, join } from 'node:path';
import { writableRoots, type SandboxProfile } from './profile';

/** `private`: empty, writable, gone with the shell. `hidden`: empty. */
export type Access = 'private' | 'hidden' | 'read' | 'write';

export interface Mount {
  path: string;
  access: Access;
  isFolder: boolean;
}

export interface Look {
  kind: (path: string) => 'folder' | 'file' | 'link' | undefined;
  /** Paths of unix sockets with a listener on the host. */
  sockets: () => readonly string[];
}

const PRIVATE = ['/tmp', '/var/tmp'];
/** Sockets of services, and homes of other users. */
const HIDDEN_FOLDERS = ['/run', '/var/run', '/home', '/root', '/mnt', '/media', '/lost+found'];
/** Files that root's shells could read: the sandbox drops capabilities, but not the ownership of files. */
const SYSTEM_SECRETS = [
  ...['shadow', 'shadow-', 'gshadow', 'gshadow-', 'sudoers', 'sudoers.d', 'krb5.keytab', 'kubernetes'],
  ...['ssl/private', 'ssh', 'docker', 'wireguard', 'ppp', 'NetworkManager/system-connections'],
].map((name) => `/etc/${name}`);
const SERVICE_DATA = ['docker', 'containerd', 'kubelet', 'private', 'mysql', 'postgresql', 'redis'].map(
  (name) => `/var/lib/${name}`,
);
const SYSTEM = [...SYSTEM_SECRETS, ...SERVICE_DATA, '/var/spool', '/var/mail', '/boot'];
/** Where people install programs; the rest of a home folder stays hidden. */
const HOME_PROGRAMS = [
  ...['.pyenv', '.rbenv', '.asdf', '.sdkman', '.nvm', '.volta', '.bun', '.deno', '.cargo', '.rustup', 'go'],
  ...['.local/bin', '.local/lib', '.local/share/uv', '.local/share/pipx', '.local/share/mise', 'miniconda3'],
  ...['.local/share/pnpm', '.local/share/fnm', '.npm-global'],
];
/** Secrets in these programs' folders. */
const HOME_SECRETS = ['.cargo/credentials', '.cargo/credentials.toml', '.cargo/registry/credentials'];

/** In mount order: parents first. */
export function mountsOf(profile: SandboxProfile, look: Look): Mount[] {
  const rules = new Map<string, Access>();
  const set = (access: Access, ...paths: readonly string[]): void => {
    for (const path of paths) if (look.kind(path) !== undefined) rules.set(path, access);
  };
  const { home, dataDir } = profile;
  set('hidden', ...HIDDEN_FOLDERS, ...SYSTEM);
  set('private', ...PRIVATE);
  if (home !== '/') {
    set('private', home);
    set('read', ...HOME_PROGRAMS.map((name) => join(home, name)));
    set('hidden', ...HOME_SECRETS.map((name) => join(home, name)));
  }
  set('read', ...profile.readable);
  set('hidden', dataDir);
  set('write', ...writableRoots(profile));
  for (const root of writableRoots(profile)) protectRepository(root, profile, { rules, look });
  for (const path of profile.loaded) {
    if (nearest(path, rules) !== 'write') continue;
    const place = look.kind(path) === undefined ? firstMissing(path, look) : path;
    if (nearest(place, rules) === 'write')
      rules.set(place, place === path && look.kind(path) ? 'read' : 'hidden');
  }
  set('hidden', ...[...look.sockets(), ...profile.hidden].filter((path) => isSeen(path, rules)));
  set('read', ...profile.shown);
  pin(rules);
  return (
    [...rules]
      .map(([path, access]) => ({ path, access, isFolder: look.kind(path) !== 'file' }))
      // Nothing is mounted over a link: its target has its own rule.
      .filter(({ path }) => look.kind(path) !== 'link')
      .sort((a, b) => depth(a.path) - depth(b.path))
  );
}

/**
 * A mount moves with its parent folders: renaming one would free its name for something uncovered, or with different
 * content. A folder that is a mount point cannot be renamed, so each folder in between is mounted on itself.
 */
function pin(rules: Map<string, Access>): void {
  for (const path of [...rules.keys()]) {
    const between: string[] = [];
    let at = dirname(path);
    for (; !rules.has(at) && at !== '/'; at = dirname(at)) between.push(at);
    if (rules.get(at) === 'write') for (const folder of between) rules.set(folder, 'write');
  }
}

/**
 * The mounts that everyday actions outside can remove, such as saving a file: those on files, and those in writable
 * folders. Sockets come and go with their servers.
 */
export function lastingCovers(mounts: readonly Mount[], look: Look): string[] {
  const rules = new Map(mounts.map(({ path, access }) => [path, access]));
  const sockets = new Set(look.sockets());
  return mounts
    .filter(({ path, access, isFolder }) => {
      const isCover = access === 'hidden' || access === 'read';
      return isCover && !sockets.has(path) && (!isFolder || nearest(dirname(path), rules) === 'write');
    })
    .map(({ path }) => path);
}

/** For a missing path, the path that must not be created: itself, or the first missing folder on the way. */
function firstMissing(path: string, look: Look): string {
  const parent = dirname(path);
  return parent === path || look.kind(parent) !== undefined ? path : firstMissing(parent, look);
}

/** The rule for a path. */
function nearest(path: string, rules: ReadonlyMap<string, Access>): Access | undefined {
  for (let at = path; ; at = dirname(at)) {
    const access = rules.get(at);
    if (access !== undefined || at === '/') return access;
  }
}

const depth = (path: string): number => path.split('/').length;

/**
 * Git runs commands that a repository's configuration and hooks name: using git on the workspace from outside would run
 * what was written inside. A mount also keeps the folder from being renamed.
 */
function protectRepository(
  root: string,
  { git }: SandboxProfile,
  { rules, look }: { rules: Map<string, Access>; look: Look },
): void {
  const repository = join(root, '.git');
  const kind = look.kind(repository);
  if (git === 'read-only') {
    rules.set(repository, kind === undefined ? 'hidden' : 'read');
  } else if (kind === 'folder') {
    rules.set(repository, 'write');
    rules.set(join(repository, 'hooks'), look.kind(join(repository, 'hooks')) ? 'read' : 'hidden');
    if (look.kind(join(repository, 'config'))) rules.set(join(repository, 'config'), 'read');
  } else if (kind === 'file') {
    rules.set(repository, 'read');
  }
}

/** What mounts make of a path; undefined: it is as outside, but read-only. */
export function accessTo(mounts: readonly Mount[]): (path: string) => Access | undefined {
  const rules = new Map(mounts.map(({ path, access }) => [path, access]));
  return (path) => nearest(path, rules);
}

/** Whether the path is visible: in an empty folder, a separate rule would only reveal its name. */
function isSeen(path: string, rules: ReadonlyMap<string, Access>): boolean {
  const access = nearest(path, rules);
  return access !== 'private' && access !== 'hidden';
}
