// What the sandbox of a host allows its sessions. Plain JSON: it is part of the configuration of holders.
import { dirname, resolve } from 'node:path';
import { packageRoot } from '../../system/package-root';
import { isWithin, real } from '../real-path';
import { usualWorkingFolder } from '../working-folder';

/** Per process, except `processes`, which counts the processes of one session together. */
export interface SandboxLimits {
  processes?: number | undefined;
  /** Private writable memory (RLIMIT_DATA). */
  memoryMb?: number | undefined;
  cpuSec?: number | undefined;
  /** Maximum size of a written file. */
  fileMb?: number | undefined;
  openFiles?: number | undefined;
}

/** The configured part of a sandbox; the rest follows from the host. */
export interface SandboxSettings {
  /** Hosts by name, optionally with a port: `pypi.org`, `*.example.org`, `registry.internal:8443`. */
  network: 'none' | 'full' | readonly string[];
  /** Whether commits can be made in the repository at the top of a writable folder. */
  git: 'read-only' | 'writable';
  /** Writable folders besides the workspace. */
  writable: readonly string[];
  /** Readable folders in the home folder, or in other hidden places. */
  readable: readonly string[];
  /** Folders and files to hide. */
  hidden: readonly string[];
  limits: SandboxLimits;
}

/** Programs that are run outside of a sandbox, by absolute paths that nothing inside can change. */
export interface OutsidePrograms {
  bwrap: string;
  mkfifo: string;
  stty: string;
  /** Present if hosts are named. */
  nsenter?: string | undefined;
  /** Present if there are limits. The only one that is run inside, where it must not be replaced either. */
  prlimit?: string | undefined;
}

export interface SandboxProfile extends SandboxSettings {
  kind: 'bubblewrap';
  programs: OutsidePrograms;
  /** The PATH of outside programs: code inside cannot write any of its folders. */
  path: string;
  /** Working folder of the host, which is always writable. */
  workspace: string;
  home: string;
  /** Folder of Holdfast's data: hidden except for what a session needs. */
  dataDir: string;
  /** Files that outside programs read: if they would be writable, they become read-only, or must stay missing. */
  loaded: readonly string[];
  /** Set only inside: outside they would change the programs that start a command. */
  variables: Readonly<Record<string, string>>;
  /** Our folders that sessions read: runners, stubs, Node. */
  shown: readonly string[];
}

export interface ProfilePlaces {
  workspace: string;
  home: string;
  dataDir: string;
  /** Folder with the tool stubs. */
  stubs?: string | undefined;
  /** Files and folders that the worker reads, such as its configuration. */
  loaded?: readonly string[] | undefined;
  variables?: Readonly<Record<string, string>> | undefined;
}

/**
 * The part of a profile that decides what code inside may do: profiles that differ only in the rest are the same
 * sandbox.
 */
export const rightsOf = (profile: SandboxProfile | undefined): Partial<SandboxProfile> | undefined =>
  profile && { ...profile, programs: undefined, path: undefined };

/** All links in paths are resolved: nothing can be mounted over a link. */
export function sandboxProfile(
  settings: SandboxSettings,
  places: ProfilePlaces,
): Omit<SandboxProfile, 'programs' | 'path'> {
  return {
    ...settings,
    kind: 'bubblewrap',
    workspace: real(places.workspace),
    home: real(places.home),
    dataDir: real(places.dataDir),
    writable: settings.writable.map(real),
    readable: settings.readable.map(real),
    hidden: settings.hidden.map(real),
    loaded: [...packageParts(), ...(places.loaded ?? [])].map(real),
    variables: places.variables ?? {},
    shown: [...ownFolders(), ...(places.stubs === undefined ? [] : [places.stubs])].map(real),
  };
}

/** Node, and the parts of this package that run inside, which need no others: readable wherever they are, writable nowhere. */
function ownFolders(): string[] {
  const root = packageRoot();
  const own = ['dist', 'exec/shell', 'package.json'].map((name) => resolve(root, name));
  return [dirname(process.execPath), ...own];
}

/** The parts of this package that are run or read outside, besides TypeScript, which is compiled into `dist`. */
const PARTS = [
  ...['package.json', 'bin', 'dist', 'node_modules', 'exec/shell', 'checks/code', 'tools/stubs/assets'],
  ...['engine/temporal', 'engine/dynamicconfig.yaml', 'models/prompts'],
];

/** Includes each parent folder in which Node looks for packages, even if it does not exist yet. */
export function packageParts(): string[] {
  const root = packageRoot();
  const above: string[] = [];
  for (let at = dirname(root); at !== '/'; at = dirname(at)) above.push(resolve(at, 'node_modules'));
  return [...PARTS.map((name) => resolve(root, name)), ...above];
}

/** Writable folders. */
export const writableRoots = ({
  workspace,
  writable,
}: Pick<SandboxProfile, 'workspace' | 'writable'>): string[] => [workspace, ...writable];

/** Problems with the writable folders: one that contains any of these would defeat the sandbox. */
export function writableFaults(profile: Omit<SandboxProfile, 'programs' | 'path'>): string[] {
  const { home, dataDir } = profile;
  return writableRoots(profile).flatMap((root) => {
    const held = [home, '/etc', '/usr'].find((path) => isWithin(path, root));
    if (held !== undefined) return [`${root} may not be writable: ${held} lies in it`];
    const isOfData = isWithin(root, dataDir) && !isWithin(root, usualWorkingFolder(dataDir));
    return isOfData || root === dataDir ? [`${root} may not be writable: it is Holdfast's own data`] : [];
  });
}
