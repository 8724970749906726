// The sandbox of a host, opened: the command lines of what runs in it.
import { answersFolder } from '../holder/missing-packages';
import { bubblewrapCommand, type Inside } from './bubblewrap';
import { limitCommand } from './limits';
import { hostLook } from './look';
import { CoverWatch } from './cover-watch';
import { isShown, lastingCovers, mountsOf } from './mounts';
import type { SandboxNetwork } from './network';
import { writableRoots, type SandboxProfile } from './profile';

export class Sandbox {
  /** Without a network no host can be reached, whatever the profile names. */
  constructor(
    private readonly profile: SandboxProfile,
    private readonly network?: SandboxNetwork,
  ) {}

  /** With a network of its own where the profile names hosts. Throws where that cannot be had. */
  static async open(profile: SandboxProfile): Promise<Sandbox> {
    const { programs, network } = profile;
    if (typeof network === 'string') return new Sandbox(profile);
    // Not for every holder: a client and a server of HTTP take longer to load than all the rest of it.
    const { SandboxNetwork } = await import('./network');
    return new Sandbox(profile, await SandboxNetwork.open(programs, network));
  }

  /** The folder that may always be written. */
  get workspace(): string {
    return this.profile.workspace;
  }

  /** Folders that code in it may write. */
  get roots(): string[] {
    return writableRoots(this.profile);
  }

  /** Whether code in it sees what lies at a real path. */
  readonly shows = (path: string): boolean => isShown(path, mountsOf(this.profile, hostLook));

  /** A shell's first process, whose channels lie in `directory`. Its terminal's leader is bwrap, which dies with it. */
  shell(directory: string, command: readonly string[]): string[] {
    const places = { cwd: this.workspace, directory, answers: answersFolder(directory) };
    return [...this.confined({ ...places, isFirst: true }), ...command];
  }

  /**
   * Tells of what is uncovered to a shell that is started from now on: somebody outside has replaced it. Nothing that
   * is there by then is told.
   */
  watch(onLost: (path: string) => void): CoverWatch {
    return new CoverWatch(lastingCovers(mountsOf(this.profile, hostLook), hostLook), onLost);
  }

  /** One program that runs to its end: missing, it is told as a shell tells it (127). */
  program(cwd: string, command: readonly string[]): string[] {
    return [...this.confined({ cwd }), '/bin/sh', '-c', 'exec "$@"', 'sh', ...command];
  }

  /** What runs in it reaches no host any more. */
  close(): void {
    this.network?.close();
  }

  private confined(places: Omit<Inside, 'mounts' | 'isEntered'>): string[] {
    const { profile, network } = this;
    const inside = { ...places, mounts: mountsOf(profile, hostLook), isEntered: network !== undefined };
    return [
      ...(network?.enter ?? []),
      ...bubblewrapCommand(profile, inside),
      ...limitCommand(profile.limits, profile.programs.prlimit),
    ];
  }
}
