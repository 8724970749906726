// An opened sandbox of a host: builds the command lines for what runs in it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { answersFolder } from '../holder/shell/missing-packages';
import { bubblewrapCommand, type Inside } from './bubblewrap';
import { limitCommand } from './limits';
import { hostLook } from './look';
import { CoverWatch } from './cover-watch';
import { lastingCovers, mountsOf } from './mounts';
import type { SandboxNetwork } from './network';
import { writableRoots, type SandboxProfile } from './profile';

const TRIAL_MS = 10_000;

export class Sandbox {
  /** Without a network no host can be reached, whatever the profile says. */
  constructor(
    private readonly profile: SandboxProfile,
    private readonly network?: SandboxNetwork,
  ) {}

  /** With its own network if the profile names hosts. Throws if that cannot be set up. */
  static async open(profile: SandboxProfile): Promise<Sandbox> {
    const { programs, network } = profile;
    if (typeof network === 'string') return new Sandbox(profile);
    // Loaded on demand: an HTTP client and server take longer to load than all the rest of a holder.
    const { SandboxNetwork } = await import('./network');
    return new Sandbox(profile, await SandboxNetwork.open(programs, network));
  }

  /** The same sandbox with other rights to files, in the same network. */
  with(profile: SandboxProfile): Sandbox {
    return profile === this.profile ? this : new Sandbox(profile, this.network);
  }

  /** The folder that is always writable. */
  get workspace(): string {
    return this.profile.workspace;
  }

  /** Folders that code in it may write. */
  get roots(): string[] {
    return writableRoots(this.profile);
  }

  /** Folders that each shell and program gets anew, and that vanish with it. */
  privateFolders(): string[] {
    return mountsOf(this.profile, hostLook)
      .filter(({ access }) => access === 'private')
      .map(({ path }) => path);
  }

  /** A shell's first process, with its channels in `directory`. Its terminal's leader is bwrap, which dies with it. */
  shell(directory: string, command: readonly string[]): string[] {
    const places = { cwd: this.workspace, directory, answers: answersFolder(directory) };
    return [...this.confined({ ...places, isFirst: true }), ...command];
  }

  /**
   * Call it before a shell starts; reports when somebody outside replaces a covered file. Reports nothing that happened
   * earlier.
   */
  watch(onLost: (path: string) => void): CoverWatch {
    const covers = lastingCovers(mountsOf(this.profile, hostLook), hostLook);
    // bwrap makes the missing mount points. If the shell's did, it would be reported.
    if (!covers.every((path) => existsSync(path))) this.try(['true']);
    return new CoverWatch(covers, onLost);
  }

  /** Runs a program in the workspace; returns the error output of a failed run. */
  try(command: readonly string[]): string | undefined {
    const [file = '', ...args] = this.program(this.workspace, command);
    const result = spawnSync(file, args, { encoding: 'utf8', timeout: TRIAL_MS });
    if (result.status === 0) return undefined;
    return (
      result.stderr?.trim() || result.error?.message || `it ended with ${result.status ?? result.signal}`
    );
  }

  /** A program that runs to its end; if missing, it is reported the way a shell does (127). */
  program(cwd: string, command: readonly string[]): string[] {
    return [...this.confined({ cwd }), '/bin/sh', '-c', 'exec "$@"', 'sh', ...command];
  }

  /** Programs that run in it then reach no host. */
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
