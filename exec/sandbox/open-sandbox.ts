// Whether this host can confine its sessions, determined by trying: distributions and containers refuse namespaces in
// many ways.
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { findOutsidePrograms } from './find-programs';
import { Sandbox } from './sandbox';
import {
  sandboxProfile,
  writableFaults,
  type ProfilePlaces,
  type SandboxProfile,
  type SandboxSettings,
} from './profile';

export const SANDBOX_MODES = ['off', 'prefer', 'required'] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

export interface SandboxChoice extends SandboxSettings {
  mode: SandboxMode;
}

export const NO_SANDBOX: SandboxChoice = {
  mode: 'off',
  network: 'none',
  git: 'read-only',
  writable: [],
  readable: [],
  hidden: [],
  limits: {},
};

const RETRIES = 2;

/** The result of a trial: `profile` if it works, else `reason`. */
export type Trial = { profile: SandboxProfile; reason?: never } | { profile?: never; reason: string };

/**
 * The profile for the sessions of a host; undefined without one. Throws `sandbox_missing` if one is required and does
 * not work here, and `config_invalid` for folders that may not be writable. `warn` is called if a preferred one does
 * not work.
 */
export async function openSandbox(
  choice: SandboxChoice,
  places: ProfilePlaces,
  warn: (reason: string) => void,
): Promise<SandboxProfile | undefined> {
  if (choice.mode === 'off') return undefined;
  const { profile, reason } = await trySandbox(choice, places);
  if (profile) return profile;
  if (choice.mode === 'required') throw new HoldfastError('sandbox_missing', { reason });
  warn(reason);
  return undefined;
}

/** Runs a program in the sandbox, and in its own network if it has one. Throws `config_invalid`. */
export async function trySandbox(settings: SandboxSettings, places: ProfilePlaces): Promise<Trial> {
  const trial = tryBubblewrap(settings, places);
  if (!trial.profile || typeof settings.network === 'string') return trial;
  try {
    const sandbox = await Sandbox.open(trial.profile);
    const said = sandbox.try(['true']);
    sandbox.close();
    return said === undefined ? trial : { reason: `access to its named hosts: ${said}` };
  } catch (err) {
    return { reason: `access to its named hosts: ${reasonOf(err)}` };
  }
}

/** The same for files and processes only. Costs about 20 ms. Throws `config_invalid`. */
export function tryBubblewrap(settings: SandboxSettings, places: ProfilePlaces): Trial {
  const rights = sandboxProfile(settings, places);
  const faults = writableFaults(rights);
  if (faults.length > 0)
    throw new HoldfastError('config_invalid', {
      faults: `The folders that a sandbox may write: ${faults.join('; ')}.`,
    });
  const { programs, path, reason } = findOutsidePrograms(rights);
  if (!programs) return { reason };
  const profile: SandboxProfile = { ...rights, programs, path };
  const sandbox = new Sandbox(profile);
  let said = sandbox.try(['true']);
  // A socket to hide may vanish before it is hidden.
  for (let more = RETRIES; said !== undefined && more > 0; more--) said = sandbox.try(['true']);
  return said === undefined ? { profile } : { reason: `\`bwrap\` (${programs.bwrap}) failed: ${said}` };
}

/** Whether the number of processes is limited: not for root, which the kernel exempts. */
export function limitsProcesses(profile: SandboxProfile): boolean {
  return new Sandbox({ ...profile, limits: { processes: 1 } }).try(['sh', '-c', 'true & wait']) !== undefined;
}
