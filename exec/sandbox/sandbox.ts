// Command lines that run in the sandbox of a host.
import { answersFolder } from '../holder/missing-packages';
import { bubblewrapCommand } from './bubblewrap';
import { limitCommand } from './limits';
import { hostLook } from './look';
import { mountsOf } from './mounts';
import type { SandboxProfile } from './profile';

/** A shell's first process, whose channels lie in `directory`. Its terminal's leader is bwrap, which dies with it. */
export function sandboxedShell(
  profile: SandboxProfile,
  directory: string,
  command: readonly string[],
): string[] {
  const places = { cwd: profile.workspace, directory, answers: answersFolder(directory) };
  const inside = { mounts: mountsOf(profile, hostLook), ...places, isFirst: true };
  return [...bubblewrapCommand(profile, inside), ...limitCommand(profile.limits), ...command];
}

/** One program that runs to its end: missing, it is told as a shell tells it (127). */
export function sandboxedProgram(profile: SandboxProfile, cwd: string, command: readonly string[]): string[] {
  const inside = { mounts: mountsOf(profile, hostLook), cwd };
  const limited = [...bubblewrapCommand(profile, inside), ...limitCommand(profile.limits)];
  return [...limited, 'sh', '-c', 'exec "$@"', 'sh', ...command];
}
