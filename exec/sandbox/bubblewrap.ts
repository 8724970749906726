// Builds the command line of bubblewrap (bwrap(1)) for a profile. Pure: facts about the host are passed in.
import { shellAsset } from '../../system/package-root';
import type { Mount } from './mounts';
import type { SandboxProfile } from './profile';
import { PROXY_ENVIRONMENT } from './proxy-address';

/** Size of each private folder, which is kept in memory. */
const PRIVATE_BYTES = 1024 ** 3;

/** Where a session finds its tool socket: short enough for a socket address, wherever the data is. */
export const INSIDE = '/run/holdfast';

/**
 * Options of every profile. Nested user namespaces are refused (`--disable-userns`): they would give capabilities, and
 * with them a larger attack surface of the kernel. There is no `--new-session`: it would disable job control, and
 * anything typed with TIOCSTI goes to the session's own terminal, which no one else reads.
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
  /** Writable folder below it. */
  answers?: string | undefined;
  /** The command starts inside the network that leads to the named hosts; otherwise it has no access to them. */
  isEntered?: boolean;
  /** The program is the namespace's first process, and ignores signals that it does not catch. */
  isFirst?: boolean;
}

/** The command line up to the command to run. */
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
    // The only writable folder of ours: where runners report on a script.
    ...(answers === undefined ? [] : ['--bind', answers, answers]),
    // Last: they must be writable while they are filled. If the host runs as root, bwrap protects too little of /proc:
    // for changing a setting the kernel checks the user, which is still root, not the capabilities.
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
