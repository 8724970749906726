// Locates the programs that a host runs outside of its sandbox: once, at start, and never through a PATH that code
// inside can influence.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { findTrusted, trustedPath } from '../trusted-program';
import { writableRoots, type OutsidePrograms, type SandboxProfile } from './profile';

/** The package of a program, if its name differs. */
const PACKAGES: Partial<Record<keyof OutsidePrograms, string>> = {
  nsenter: ' (util-linux)',
  prlimit: ' (util-linux)',
};

type FoundPrograms =
  | { programs: OutsidePrograms; path: string; reason?: never }
  | { programs?: never; path?: never; reason: string };

type Rights = Pick<SandboxProfile, 'workspace' | 'writable' | 'network' | 'limits'>;

/**
 * `reason`: what is missing. Throws `config_invalid` if a program is found only where code in the sandbox, or another
 * user, can replace it: continuing without a sandbox would be worse, continuing with it no better.
 */
export function findOutsidePrograms(profile: Rights): FoundPrograms {
  const { network, limits } = profile;
  const names: (keyof OutsidePrograms)[] = ['bwrap', 'mkfifo', 'stty'];
  if (typeof network !== 'string') names.push('nsenter');
  if (Object.values(limits).some((limit) => limit !== undefined)) names.push('prlimit');
  const trust = { path: process.env.PATH, roots: writableRoots(profile) };
  const found = names.map((name) => ({ name, ...findTrusted(name, trust) }));
  const refused = found.flatMap(({ name, refused: why }) => (why ? [`${name} is found only as ${why}`] : []));
  if (refused.length > 0) throw untrusted(refused);
  const missing = found.find(({ path }) => path === undefined)?.name;
  if (missing !== undefined)
    return { reason: `there is no program ${missing}${PACKAGES[missing] ?? ''} on the PATH` };
  const programs = Object.fromEntries(found.map(({ name, path }) => [name, path]));
  return { programs: programs as unknown as OutsidePrograms, path: trustedPath(trust) };
}

/** Programs that are run outside of the sandbox but could be replaced from inside. */
const untrusted = (faults: readonly string[]): HoldfastError =>
  new HoldfastError('config_invalid', {
    faults: `Programs that are run outside of the sandbox: ${faults.join('; ')}.`,
  });
