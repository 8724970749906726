// Input of the host's activities, which run on `host.<name>`. Plain JSON, no I/O.
import type { HeldCommand } from '../tools/approvals';
import type { ErrorCode, ErrorFacts } from '../errors/holdfast-error';
import type { SessionRef } from '../ids';
import type { SeenPrompt } from '../schemas/session';
import type { CommandView, Key, Runtime, Wait, WaitResult, YieldSettings } from './session';

export interface RunCommandInput {
  ref: SessionRef;
  /** Workflow id of the session, for the signal `yielded`. */
  workflowId: string;
  cwd: string | null;
  commandId: string;
  runtime: Runtime;
  code: string;
  yield: YieldSettings;
  /** Ends whatever runs in the session first. */
  reset?: boolean;
  /** Nothing runs while its first imports are not installed. */
  checkImports?: boolean;
  /** Hash of the approved code. */
  cleared?: string;
  /** The package that this command installs because a script imports it. */
  installs?: string;
  /** Set if an earlier delivery may have reached a host: when the command was sent, in ms by the server's clock. */
  resentSince?: number;
  /** Set if the session is closing, or the command was reset or replaced: why it may be looked up, but not begin. */
  over?: string;
  /** How many resets the session had asked for when it accepted the command, its own included. */
  resets?: number;
}

export interface OpenSessionInput {
  ref: SessionRef;
  cwd: string | null;
}

export interface SendInputInput {
  ref: SessionRef;
  inputId: string;
  text: string | null;
  /** False: no Enter after the text. */
  enter?: boolean;
  keys: Key[];
  prompt?: SeenPrompt;
  /** Offset to show output from; null: from where the input was typed. */
  from: number | null;
  /** Null: answer as soon as the input is typed. */
  yield: YieldSettings | null;
}

/** Inputs that arrived as signals, in order. */
export interface SendInputsInput {
  ref: SessionRef;
  inputs: SignalledInput[];
}

export interface SignalledInput {
  inputId: string;
  text: string | null;
  enter?: boolean;
  keys: Key[];
  prompt?: SeenPrompt;
}

export interface SentInputs {
  /** The view after the last input. */
  view: CommandView;
  /** Refused inputs, in the catalogue's words: the sender of a signal gets no answer. */
  refused: string[];
}

export interface ReadOutputInput {
  ref: SessionRef;
  from: number | null;
  maxBytes: number | null;
  wait: Wait | null;
  waitMs: number;
}

export interface WaitForSessionsInput {
  /** The session that was asked. */
  ref: SessionRef;
  targets: { session: number; from: number | null }[];
  wait: Wait;
  mode: 'any' | 'all';
  waitMs: number;
}

export interface ResetSessionInput {
  ref: SessionRef;
  resetId: string;
  reason: string | null;
  /** Which reset of the session this is, as commands count them; absent if it repeats an earlier one. */
  number?: number;
}

export interface CloseSessionInput {
  ref: SessionRef;
  reason: string | null;
}

/** The signal `yielded`: the command is still running, or its state is unknown at the moment. */
export type Yielded = { commandId: string } &
  /** `later`: not the first one: its program began to wait for input or no longer does. */
  (
    | { view: CommandView; later?: boolean; trouble?: undefined }
    /** Null: the trouble is over. */
    | { trouble: CommandTrouble | null; view?: undefined; later?: undefined }
  );

/** Why the state of a running command is unknown: an error from the catalogue. The command keeps running. */
export interface CommandTrouble {
  code: ErrorCode;
  facts: ErrorFacts;
}

/** The host's activities, as workflows see them. */
export interface HostActivities {
  /** Opens the terminal unless it is open. */
  openSession(input: OpenSessionInput): Promise<CommandView>;
  /**
   * Completes when the command has ended, however long that takes; `yielded` reports what happens before. Completes
   * at once if an approval is needed: then nothing was run.
   */
  runCommand(input: RunCommandInput): Promise<CommandView | HeldCommand>;
  sendInput(input: SendInputInput): Promise<CommandView>;
  sendInputs(input: SendInputsInput): Promise<SentInputs>;
  readOutput(input: ReadOutputInput): Promise<CommandView>;
  waitForSessions(input: WaitForSessionsInput): Promise<WaitResult>;
  resetSession(input: ResetSessionInput): Promise<CommandView>;
  closeSession(input: CloseSessionInput): Promise<void>;
}
