// The command line of bubblewrap (bwrap(1)) for a profile. Pure: what is on the host is handed in.
import { shellAsset } from '../package-root';
import type { Mount } from './mounts';
import type { SandboxProfile } from './profile';
import { PROXY_ENVIRONMENT } from './proxy-address';

/** Of each private folder: it is kept in memory. */
const PRIVATE_BYTES = 1024 ** 3;

/** Where a session finds its tool socket: short enough for the address of a socket, wherever the data lie. */
export const INSIDE = '/run/holdfast';

/**
 * What no profile changes. User namespaces of its own are refused inside (`--disable-userns`): they would give
 * capabilities and with them more of the kernel to try. There is no `--new-session`: it takes job control away, and
 * what TIOCSTI types goes to the session's own terminal, which nobody else reads.
 */
const ALWAYS = [
  ...['--unshare-user', '--disable-userns', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
  ...['--unshare-cgroup-try', '--cap-drop', 'ALL', '--die-with-parent'],
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
  ...['--setenv', 'TMPDIR', '/tmp', '--unsetenv', 'XDG_RUNTIME_DIR', '--unsetenv', 'SSH_AUTH_SOCK'],
];

export interface Inside {
  mounts: readonly Mount[];
  /** Working folder. */
  cwd: string;
  /** Folder of a shell's channels. */
  directory?: string | undefined;
  /** Folder below it that can be written. */
  answers?: string | undefined;
  /** It is begun in the network that leads to the named hosts; without that there is none for them. */
  isEntered?: boolean;
  /** The program is the namespace's first process, and ignores signals that it does not catch. */
  isFirst?: boolean;
}

/** Up to the command that is to run in it. */
export function bubblewrapCommand(profile: SandboxProfile, inside: Inside): string[] {
  const { mounts, cwd, directory, answers, isEntered = false, isFirst = false } = inside;
  const own = directory === undefined ? [] : [directory, INSIDE];
  return [
    profile.programs.bwrap,
    ...ALWAYS,
    ...(isFirst ? ['--as-pid-1'] : []),
    ...Object.entries(profile.variables).flatMap(([name, value]) => ['--setenv', name, value]),
    ...networkArguments(profile, isEntered),
    ...mounts.flatMap(mountArguments),
    ...own.flatMap((path) => ['--ro-bind', directory ?? '', path]),
    // What runners tell of a script, and nothing else of ours, is written inside.
    ...(answers === undefined ? [] : ['--bind', answers, answers]),
    // Last: while they are filled they must be writable. Of /proc bwrap protects too little where the host is root's:
    // the kernel asks for the user, who is root still, and not for capabilities before it takes a setting.
    ...['--remount-ro', '/proc'],
    ...mounts.filter(isEmptyFolder).flatMap(({ path }) => ['--remount-ro', path]),
    ...['--chdir', cwd, '--'],
  ];
}

function networkArguments({ network }: SandboxProfile, isEntered: boolean): string[] {
  if (network === 'full') return [];
  if (!isEntered) return ['--unshare-net'];
  return PROXY_ENVIRONMENT.flatMap(([name, value]) => ['--setenv', name, value]);
}

const isEmptyFolder = ({ access, isFolder }: Mount): boolean => access === 'hidden' && isFolder;

function mountArguments({ path, access, isFolder }: Mount): string[] {
  if (access === 'read') return ['--ro-bind', path, path];
  if (access === 'write') return ['--bind', path, path];
  if (!isFolder) return ['--ro-bind', shellAsset('nothing'), path];
  return ['--size', String(PRIVATE_BYTES), '--tmpfs', path];
}
