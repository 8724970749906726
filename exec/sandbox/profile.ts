// What the sandbox of a host lets its sessions do. Plain JSON: it lies in the configuration of holders.
import { realpathSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { packageRoot } from '../package-root';
import { usualWorkingFolder } from '../working-folder';

/** Of each process but `processes`, which counts those of one session together. */
export interface SandboxLimits {
  processes?: number | undefined;
  /** Private writable memory (RLIMIT_DATA). */
  memoryMb?: number | undefined;
  cpuSec?: number | undefined;
  /** Size of one file that is written. */
  fileMb?: number | undefined;
  openFiles?: number | undefined;
}

/** What a person says of a sandbox; the rest follows from the host. */
export interface SandboxSettings {
  /** Hosts by name, each perhaps with its port: `pypi.org`, `*.example.org`, `registry.internal:8443`. */
  network: 'none' | 'full' | readonly string[];
  /** Whether commits can be made in the repository at the top of a writable folder. */
  git: 'read-only' | 'writable';
  /** Folders beside the workspace that may be written. */
  writable: readonly string[];
  /** Folders of the home folder, or of other places that are hidden, that may be read. */
  readable: readonly string[];
  /** Folders and files that may not be seen. */
  hidden: readonly string[];
  limits: SandboxLimits;
}

/** Programs that are run outside of a sandbox, by absolute paths that nothing inside of it can change. */
export interface OutsidePrograms {
  bwrap: string;
  mkfifo: string;
  stty: string;
  /** Where hosts are named. */
  nsenter?: string | undefined;
  /** Where there are limits; the only one that is run inside, where it must not be another either. */
  prlimit?: string | undefined;
}

export interface SandboxProfile extends SandboxSettings {
  kind: 'bubblewrap';
  programs: OutsidePrograms;
  /** The PATH of what is run outside: its folders are none that code inside can write. */
  path: string;
  /** Working folder of the host: the one that may always be written. */
  workspace: string;
  home: string;
  /** Folder of Holdfast's data: hidden but for what a session needs of it. */
  dataDir: string;
  /** What runs outside reads these: where they can be written otherwise they are read-only, or stay missing. */
  loaded: readonly string[];
  /** Set inside alone: outside they would change what takes a command there. */
  variables: Readonly<Record<string, string>>;
  /** Folders of ours that sessions read: runners, stubs, Node. */
  shown: readonly string[];
}

export interface ProfilePlaces {
  workspace: string;
  home: string;
  dataDir: string;
  /** Folder of the stubs of tools. */
  stubs?: string | undefined;
  /** Files and folders that the worker reads, such as its configuration. */
  loaded?: readonly string[] | undefined;
  variables?: Readonly<Record<string, string>> | undefined;
}

/** What of a profile says what code inside may do: two that differ in the rest are one sandbox. */
export const rightsOf = (profile: SandboxProfile | undefined): Partial<SandboxProfile> | undefined =>
  profile && { ...profile, programs: undefined, path: undefined };

/** All paths are those that links lead to: nothing can be mounted over a link. */
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

/** Node, and of this package what runs inside: it may be read wherever it lies, and written nowhere. */
function ownFolders(): string[] {
  const root = packageRoot();
  const installed = root.lastIndexOf('/node_modules/');
  const modules =
    installed < 0 ? resolve(root, 'node_modules') : root.slice(0, installed + '/node_modules'.length);
  const own = ['dist', 'exec/shell', 'package.json'].map((name) => resolve(root, name));
  return [dirname(process.execPath), modules, ...own];
}

/** What of this package is run or read outside, beside TypeScript, which is compiled into `dist`. */
const PARTS = [
  ...['package.json', 'bin', 'dist', 'node_modules', 'exec/shell', 'checks/code', 'tools/stubs/assets'],
  ...['engine/temporal', 'engine/dynamicconfig.yaml', 'models/prompts'],
];

/** With each folder above in which Node looks for the packages that it needs, also where there is none yet. */
export function packageParts(): string[] {
  const root = packageRoot();
  const above: string[] = [];
  for (let at = dirname(root); at !== '/'; at = dirname(at)) above.push(resolve(at, 'node_modules'));
  return [...PARTS.map((name) => resolve(root, name)), ...above];
}

/** Folders that may be written. */
export const writableRoots = ({
  workspace,
  writable,
}: Pick<SandboxProfile, 'workspace' | 'writable'>): string[] => [workspace, ...writable];

/** What is wrong with the writable folders: one that holds these gives away what the sandbox is for. */
export function writableFaults(profile: Omit<SandboxProfile, 'programs' | 'path'>): string[] {
  const { home, dataDir } = profile;
  return writableRoots(profile).flatMap((root) => {
    const held = [home, '/etc', '/usr'].find((path) => isWithin(path, root));
    if (held !== undefined) return [`${root} may not be writable: ${held} lies in it`];
    const isOfData = isWithin(root, dataDir) && !isWithin(root, usualWorkingFolder(dataDir));
    return isOfData || root === dataDir ? [`${root} may not be writable: it is Holdfast's own data`] : [];
  });
}

/** Whether `path` is `folder` or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith('../'));
}

/** What links on the way to a path lead to, as far as it exists. */
export function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : resolve(real(parent), relative(parent, path));
  }
}
