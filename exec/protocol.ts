// The holder's socket protocol: one request, one answer, matched by id; answers may arrive in any order. Only a
// cancelled request may stay unanswered. A frame is a 4-byte big-endian length, followed by that many bytes of UTF-8
// JSON. A holder outlives the release that started it: verbs and fields are added within a version, and the host refuses a
// holder of a later one.
import type { SeenPrompt } from '../contracts/schemas/session';
import type {
  Key,
  KilledBy,
  Runtime,
  SandboxKind,
  TreeKill,
  Waiting,
  YieldReason,
  YieldSettings,
} from '../contracts/sessions/session';
import type { ErrorCode, ErrorFacts } from '../contracts/errors/holdfast-error';
import type { Part } from '../contracts/sessions/missing-output';
import type { CodeImport, MissingPackage } from '../contracts/tools/package-names';
import type { JsonValue, ToolError } from '../contracts/tools/tools';

export const PROTOCOL_VERSION = 1;
/** The signal that asks a holder to make itself findable at once. */
export const NUDGE = 'SIGURG';
/** The length in front of each frame. */
const HEAD_BYTES = 4;
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** Limit for unfinished frames over all connections to a socket. */
export const MAX_UNFINISHED_BYTES = 16 * MAX_FRAME_BYTES;
/** Limit for the arguments or the result of a call, leaving room for the rest of the frame. */
export const MAX_VALUE_BYTES = MAX_FRAME_BYTES - 4_096;

/** What the holder knows about one command; fields after `startedAt` are null until it has ended. */
export interface CommandRecord {
  id: string;
  /** SHA-256 of runtime and code, so that an id cannot be reused for different content. */
  contentHash: string;
  runtime: Runtime;
  epoch: number;
  freshShell: boolean;
  from: number;
  /** Milliseconds since the Unix epoch. */
  startedAt: number;
  to: number | null;
  exitCode: number | null;
  signal: string | null;
  killedBy: KilledBy | null;
  endedAt: number | null;
  lost: boolean;
  /** Modules that are not installed, for want of which it ended. Absent if there are none. */
  missing?: MissingPackage[];
}

export interface Snapshot {
  command: CommandRecord | null;
  epoch: number;
  /** Size of the log in bytes. */
  end: number;
  waiting: Waiting | null;
  treeKill: TreeKill;
  sandbox?: SandboxKind;
  /** Why the disk refuses writes at the moment. */
  degraded: string | null;
  /** Processes of ended epochs that could not be ended and still run. */
  survivors: number[];
  /**
   * If present, the log lost its end, up to `end`, while no holder was alive. Its files show anything else that is
   * missing.
   */
  lost?: Part;
  /** Where the next command begins. Only in answers to `status`. */
  folder?: string | null;
}

/** When `observe` answers. `from` is the offset that "output" counts from; `sinceMs` is the caller's wall clock. */
export type Until =
  | { kind: 'yield'; settings: YieldSettings; sinceMs?: number }
  | { kind: 'exit' | 'output' | 'idle' | 'needs_input'; from: number; timeoutMs: number };

export type ObserveReason = 'exit' | 'output' | 'idle' | 'timeout' | YieldReason;

/** A command on its way from the worker through the holder to a shell: each step adds what it alone knows. */
export interface HostCommand {
  id: string;
  runtime: Runtime;
  code: string;
  /**
   * If present, nothing is run while an import is not installed. For nodejs, the imports to check (`importsOf` of
   * checks/); for Python its own parser finds them.
   */
  checkImports?: CodeImport[] | undefined;
  /** For its programs, in the variable TRACEPARENT; absent if nothing is traced. */
  traceparent?: string | undefined;
}

export interface RunRequest extends HostCommand {
  contentHash: string;
  /** Folder of the stubs through which its scripts call tools; absent if they may not. */
  tools?: string | undefined;
}

/** A tool call made by a script. The holder assigns the id: unique for the life of the session. */
export interface ScriptCall {
  id: string;
  commandId: string;
  tool: string;
  args: Record<string, unknown>;
  /** Working folder of the script. */
  cwd: string;
}

export interface CancelledCall {
  id: string;
  reason: string;
}

/** The answer to a script. `callId` is null if the request was refused before it became a call. */
export type ScriptAnswer = { callId: string | null } & (
  { ok: true; value: JsonValue } | { ok: false; error: ToolError }
);

export interface InputRequestFrame {
  id: string;
  text: string | null;
  /** False: no Enter after the text. */
  enter?: boolean | undefined;
  keys: Key[];
  /** What it answers. */
  prompt?: SeenPrompt | undefined;
}

export interface TerminalSize {
  cols: number;
  rows: number;
}

/** What a person at the terminal receives besides the output, which is in the log. */
export interface AttachedState {
  /** Size of the log in bytes. */
  end: number;
  epoch: number;
  /** Id of the running command; null if there is none. */
  running: string | null;
  /** Name of the typist; null if no one types. */
  typist: string | null;
  size: TerminalSize;
}

/** The verbs, each with its request and answer. */
export interface Verbs {
  run: { request: RunRequest; answer: Snapshot };
  /** The values for `{{secret:NAME}}` in code and input from now on; masked in everything that leaves the session. */
  secrets: { request: { values: Record<string, string> }; answer: { taken: true } };
  observe: { request: { until: Until }; answer: { reason: ObserveReason; snapshot: Snapshot } };
  status: { request: Record<string, never>; answer: Snapshot };
  input: { request: InputRequestFrame; answer: { at: number; snapshot: Snapshot } };
  /** Makes this connection one that watches or types, until it closes. */
  attach: {
    /** `answers`: the typist's terminal answers what programs ask it. */
    request: {
      typist: { who: string; take: boolean; answers?: boolean } | null;
      size: TerminalSize | null;
    };
    answer: AttachedState;
  };
  /** Answers when the log is longer than `from`, or anything differs from `seen`. */
  watch: { request: { from: number; seen: Omit<AttachedState, 'end'> }; answer: AttachedState };
  /**
   * Raw bytes, in base64, from the connection that types. What was typed under an `id` is typed once, over any number of
   * connections. With `command` it is typed only while that command runs.
   */
  type: {
    request: { bytes: string; id?: string | undefined; command?: string | undefined };
    answer: { typed: boolean };
  };
  resize: { request: TerminalSize; answer: Record<string, never> };
  reset: { request: { id: string; reason: string | null; by: KilledBy['by'] }; answer: Snapshot };
  /** From a script, with its command's token instead of the holder's: answers when the tool has. */
  call: { request: Pick<ScriptCall, 'tool' | 'args' | 'cwd'>; answer: ScriptAnswer };
  /** Calls of scripts that arrived, or were cancelled, after change number `seen`; waits until there is one. */
  calls: {
    request: { seen: number };
    answer: { version: number; calls: ScriptCall[]; cancelled: CancelledCall[] };
  };
  /**
   * Lets scripts that only the terminal of the running command reaches call tools. `print` answers with the line that
   * the shell there has to read; `type` types it, and answers when that shell is connected; `off` ends it.
   */
  arm: { request: { mode: 'print' | 'type' | 'off' }; answer: { line: string | null } };
  /** Ends a call. */
  answer: { request: { id: string; answer: ScriptAnswer }; answer: Record<string, never> };
  /** This connection's request with this id is not waited for any more: it is abandoned without an answer. */
  cancel: { request: { id: number }; answer: Record<string, never> };
  /** Kills the tree and ends the holder. */
  close: { request: { reason: string | null }; answer: Snapshot };
}
export type Verb = keyof Verbs;

export interface RequestFrame {
  id: number;
  token: string;
  version: number;
  verb: Verb;
  body: unknown;
}
export interface AnswerFrame {
  id: number;
  ok?: unknown;
  error?: { code: ErrorCode; facts: ErrorFacts };
}

export function encodeFrame(frame: RequestFrame | AnswerFrame): Buffer {
  const body = Buffer.from(JSON.stringify(frame), 'utf8');
  const head = Buffer.allocUnsafe(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

/** Cuts a byte stream into frames. Throws if a frame is larger than 16 MiB or not JSON. */
export class FrameDecoder<T> {
  private chunks: Buffer[] = [];
  private held = 0;
  /** Length of the next frame including its head, as far as known. */
  private wanted = HEAD_BYTES;

  /** Bytes of the unfinished frame. */
  get heldBytes(): number {
    return this.held;
  }

  push(chunk: Buffer): T[] {
    this.chunks.push(chunk);
    this.held += chunk.length;
    const frames: T[] = [];
    // Joined only when a frame is complete: a large frame arrives in many chunks.
    while (this.held >= this.wanted) {
      const joined = this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks);
      this.keep(this.cut(joined, frames));
    }
    return frames;
  }

  /** Reads the complete frames, and returns the rest. */
  private cut(buffered: Buffer, frames: T[]): Buffer {
    let at = 0;
    for (this.wanted = HEAD_BYTES; buffered.length - at >= this.wanted; this.wanted = HEAD_BYTES) {
      const length = buffered.readUInt32BE(at);
      if (length > MAX_FRAME_BYTES) throw new Error(`frame of ${length} bytes, allowed ${MAX_FRAME_BYTES}`);
      this.wanted = HEAD_BYTES + length;
      if (buffered.length - at < this.wanted) break;
      frames.push(JSON.parse(buffered.toString('utf8', at + HEAD_BYTES, at + this.wanted)) as T);
      at += this.wanted;
    }
    return buffered.subarray(at);
  }

  private keep(rest: Buffer): void {
    this.chunks = rest.length > 0 ? [rest] : [];
    this.held = rest.length;
  }
}
