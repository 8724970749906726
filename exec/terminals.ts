// The port through which activities and workers reach the sessions of a host. `SessionHost` keeps them in terminals of
// this machine; `holdfast/testing` simulates them. tests/conformance/terminals.ts states what both guarantee.
import type { SessionRef } from '../contracts/ids';
import type { TreeKill } from '../contracts/sessions/session';
import type { SecretUse } from '../contracts/tools/secrets';
import type { CommandRecord, HostCommand, Snapshot, Until, Verbs } from './protocol';
import type { SandboxProfile } from './sandbox/profile';

/** What is the same for all sessions of a host. */
export interface HostFacts {
  dataDir: string;
  /** Working folder of new shells. */
  cwd: string;
  /** The complete environment of new shells: nothing else is inherited. */
  env: Record<string, string>;
  treeKill: TreeKill;
  /** What shells may do; its namespace replaces the tree kill's. Default: everything that their user may. */
  sandbox?: SandboxProfile | undefined;
}

export interface RunCommand extends HostCommand {
  /** Working folder, for a session that has no holder yet. */
  cwd?: string | null | undefined;
  /** Called before a terminal is opened for it, and just before it would begin: throws why it must not. */
  mayBegin?: (() => void) | undefined;
}

export interface Terminals {
  readonly options: HostFacts;
  /**
   * Starts a command, opening the session if needed; a known id answers with its record. Throws `busy`, `id_conflict`,
   * within seconds `session_unreachable`, `storage_failed` and `resources_exhausted`, and what `mayBegin` throws.
   */
  run(ref: SessionRef, command: RunCommand): Promise<Snapshot>;
  /** Opens the terminal if none is open. Throws like `run`. */
  open(ref: SessionRef, cwd: string | null, mayBegin?: () => void): Promise<Snapshot>;
  /** Waits for a fact about the session's command. If its terminal is lost, answers with the lost command. */
  observe(ref: SessionRef, until: Until, signal?: AbortSignal): Promise<Verbs['observe']['answer']>;
  status(ref: SessionRef): Promise<Snapshot>;
  /** The record of one command. */
  commandRecord(ref: SessionRef, id: string): CommandRecord | undefined;
  /**
   * Types into the running process; a known id types nothing. Undefined if the session has no terminal. Throws
   * `no_running_process`.
   */
  input(ref: SessionRef, request: Verbs['input']['request']): Promise<Verbs['input']['answer'] | undefined>;
  /** Changes of the session's script calls since `seen`; undefined if the session has no terminal. */
  toolCalls(
    ref: SessionRef,
    seen: number,
    signal: AbortSignal,
  ): Promise<Verbs['calls']['answer'] | undefined>;
  /** Gives a script the answer to its call; does nothing if its session is gone. */
  answerCall(ref: SessionRef, request: Verbs['answer']['request']): Promise<void>;
  /** Ends everything that runs in the session; a known id ends nothing. */
  reset(ref: SessionRef, request: Verbs['reset']['request']): Promise<Snapshot>;
  /** Ends everything that runs in the session, and its terminal; the log stays. */
  close(ref: SessionRef, reason: string | null): Promise<Snapshot>;
  /** Ends the open sessions of `host` whose shells have different rights from those opened from now on. */
  closeOtherwiseConfined(host: string, reason: string): Promise<void>;
  /** All sessions that have a folder here. */
  list(): SessionRef[];
  /** Whether the session was ever opened here. */
  exists(ref: SessionRef): boolean;
  /** Whether a living terminal owns the session. */
  isOpen(ref: SessionRef): boolean;
  /** Whether it has no terminal, and none is being opened. */
  isClosed(ref: SessionRef): boolean;
  /** Which server and namespace run the workflow of a session, as recorded at its opening, if it was. */
  ownerOf(ref: SessionRef): string | undefined;
  logPath(ref: SessionRef): string;
  /** The values of the secrets that `text` names. Throws `secret_unknown` and `secret_not_allowed`. */
  secretsOf(ref: SessionRef, use: SecretUse, text: string): Promise<Record<string, string>>;
  /** Closes the connections; the sessions continue. */
  detach(): void;
  /** Resolves when no terminal is kept ready for the next session. */
  endSpare(): Promise<void>;
}
