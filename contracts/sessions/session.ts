// Data about exec sessions that crosses process boundaries: requests, views and states. Plain JSON, no I/O.

import type { Approval } from '../tools/approvals';
import type { MissingPackage } from '../tools/package-names';

/** `python_script` runs a program with the packages that its PEP 723 block names, without echoing what it evaluates. */
export const RUNTIMES = ['terminal', 'python', 'nodejs', 'python_script'] as const;
export type Runtime = (typeof RUNTIMES)[number];

/** The longest code that one command may hold, in UTF-8 bytes: escaped as JSON it must fit a Temporal payload. */
export const MAX_CODE_BYTES = 262_144;
/** The longest text that one input may hold, in UTF-8 bytes. */
export const MAX_INPUT_BYTES = 262_144;
/** The largest page that `output` returns when `maxBytes` is given. */
export const MAX_PAGE_BYTES = 131_072;

/** The longest wait that a message may ask for, in milliseconds. */
export const LONGEST_WAIT_MS = 30 * 24 * 3_600_000;

/** How long a command may run before its caller gets an answer, in milliseconds. */
export interface YieldSettings {
  /** Time without any output since the command began. */
  firstOutputMs: number;
  /** Time without further output since the last. */
  betweenOutputMs: number;
  /** Total time. */
  maxMs: number;
  /** Time for which it probably waits for input; one that certainly waits, or is back at its prompt, yields at once. */
  promptMs: number;
}

/**
 * Sessions that an agent may have open on one host. Each is a process plus its shell: an agent that forgets its
 * sessions must not fill the host.
 */
export const MAX_SESSIONS_PER_AGENT = 64;

/** agent-zero's defaults for running code. */
export const DEFAULT_YIELD: YieldSettings = {
  firstOutputMs: 30_000,
  betweenOutputMs: 15_000,
  maxMs: 180_000,
  promptMs: 5_000,
};

/** Keys that `input` can press, by name. */
export const KEYS = {
  enter: '\r',
  tab: '\t',
  escape: '\x1b',
  space: ' ',
  backspace: '\x7f',
  delete: '\x1b[3~',
  up: '\x1b[A',
  down: '\x1b[B',
  right: '\x1b[C',
  left: '\x1b[D',
  home: '\x1b[H',
  end: '\x1b[F',
  'page-up': '\x1b[5~',
  'page-down': '\x1b[6~',
  'ctrl-a': '\x01',
  'ctrl-c': '\x03',
  'ctrl-d': '\x04',
  'ctrl-e': '\x05',
  'ctrl-k': '\x0b',
  'ctrl-l': '\x0c',
  'ctrl-r': '\x12',
  'ctrl-u': '\x15',
  'ctrl-w': '\x17',
  'ctrl-z': '\x1a',
  'ctrl-\\': '\x1c',
  // As xterm sends them, which is what TERM says we are.
  f1: '\x1bOP',
  f2: '\x1bOQ',
  f3: '\x1bOR',
  f4: '\x1bOS',
  f5: '\x1b[15~',
  f6: '\x1b[17~',
  f7: '\x1b[18~',
  f8: '\x1b[19~',
  f9: '\x1b[20~',
  f10: '\x1b[21~',
  f11: '\x1b[23~',
  f12: '\x1b[24~',
} as const;
export type Key = keyof typeof KEYS;

/** What to wait for: the end, new output, silence, a program waiting for input, or text that matches `pattern:RE`. */
export type Wait = 'exit' | 'output' | 'idle' | 'needs_input' | `pattern:${string}`;

/** Why the wait for a session ended; whatever the wait was for, nothing comes after `exit`. */
export type WaitReason = 'exit' | 'output' | 'idle' | 'needs_input' | 'pattern' | 'timeout';

export interface WaitResult {
  /** Whether the wait ended because its condition was met, not because of the timeout. */
  met: boolean;
  /** In the order of the request. `view` holds only the last lines. */
  sessions: { reason: WaitReason; view: CommandView }[];
}

export type YieldReason = 'first_output' | 'between_output' | 'max' | 'waiting_input';
export type CommandState = 'exited' | 'running' | 'waiting_input' | 'lost';

/** Whether a command has ended, with its exit code or with its shell. */
export const hasEnded = ({ state }: { state: CommandState }): boolean =>
  state === 'exited' || state === 'lost';
/** `certain`: blocked reading its terminal. `likely`: polls it. `hint`: polls it with a timeout. */
export type WaitingCertainty = 'certain' | 'likely' | 'hint';

export interface Waiting {
  /** False if the terminal does not echo input (a password). */
  echo: boolean;
  certainty: WaitingCertainty;
  /** When the wait was first seen, ISO 8601; absent if the host does not say. */
  since?: string;
}

/** A PID namespace (as root, or through a user namespace), or a search of the process table, which can miss some. */
export type TreeKill = 'pid-namespace' | 'user-pid-namespace' | 'process-search';

/** What isolates a session's commands from the rest of its host. */
export type SandboxKind = 'bubblewrap';

export interface Containment {
  treeKill: TreeKill;
  /** Absent if commands may do everything that the host's user may. */
  sandbox?: SandboxKind;
}

export interface KilledBy {
  by: 'signal' | 'reset' | 'closed' | 'cancelled' | 'host_lost';
  reason: string | null;
}

/** A session's last command, and the output between two offsets. */
export interface CommandView {
  session: number;
  commandId: string | null;
  state: CommandState;
  exitCode: number | null;
  signal: string | null;
  killedBy: KilledBy | null;
  /** Rendered text of the bytes from `from` to `to`; long output keeps only head and tail. */
  output: string;
  from: number;
  to: number;
  /** Bytes that `output` leaves out between head and tail, plus bytes that the log has lost. */
  omittedBytes: number;
  /** Requested bytes before `from` that the log no longer keeps; absent if there are none. */
  droppedBytes?: number;
  epoch: number;
  /** True when this command began in a fresh shell because the previous one had ended. */
  freshShell: boolean;
  /** Why the answer came before the end; null if the command has ended. */
  yielded: YieldReason | null;
  waiting: Waiting | null;
  /** How this host ends a whole tree. */
  treeKill: TreeKill;
  /** Absent if commands may do everything that the host's user may. */
  sandbox?: SandboxKind;
  /** Why the host's disk accepts no writes at the moment: programs stall, but no output is lost. Otherwise null. */
  degraded: string | null;
  /** Ids of processes that survived a reset and still run; empty if the host has PID namespaces. */
  survivors: number[];
  /** Modules that are not installed, for want of which the command ended. Absent if there are none. */
  missing?: MissingPackage[];
  /** How long the command ran or has been running, in milliseconds. */
  durationMs: number;
  /** True if the host has not reported on this command yet; offsets and epoch are the last known. */
  unseen?: boolean;
  /** Only from a host to the session's workflow: the data folder that has the shell. */
  folderId?: string;
}

/** The answer to the query `state` of an `execSession`. */
export interface SessionState {
  agent: string;
  host: string;
  session: number;
  status: 'idle' | 'running' | 'waiting_input' | 'waiting_approval' | 'draining' | 'closed';
  epoch: number;
  /** Where its shells begin; null: where the host's do. */
  cwd: string | null;
  command: {
    id: string;
    runtime: Runtime;
    startedAt: string;
    /** At most 80 characters. */
    firstLine: string;
  } | null;
  /** The last known view; `poll` refreshes it. */
  view: CommandView | null;
  /** The offset up to which each named reader has read. */
  readers: Record<string, number>;
  /** The last few messages that were refused as malformed. */
  refused: string[];
  /** Commands and scripts' calls that wait for an approval. */
  approvals: Approval[];
  /** Tool calls of its scripts: how many the last command's scripts made, and which are open. */
  toolCalls: { made: number; open: { id: string; tool: string }[] };
}
