// The holder's socket protocol: one request, one answer, matched by id; answers may come in any order. Only a request
// that was cancelled may stay without one.
// A frame is a 4-byte big-endian length and that many bytes of UTF-8 JSON. A released version stays
// understood, so that holders of the previous release can be re-attached.
import type {
  Key,
  KilledBy,
  Runtime,
  SandboxKind,
  TreeKill,
  Waiting,
  YieldReason,
  YieldSettings,
} from '../contracts/session';
import type { ErrorCode, ErrorFacts } from '../contracts/errors';
import type { Part } from '../contracts/missing-output';
import type { CodeImport, MissingPackage } from '../contracts/package-names';
import type { JsonValue, ToolError } from '../contracts/tools';

export const PROTOCOL_VERSION = 1;
/** The length before each frame. */
const HEAD_BYTES = 4;
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** Of all connections to a socket: frames that are not whole yet. */
export const MAX_UNFINISHED_BYTES = 16 * MAX_FRAME_BYTES;
/** Arguments or a result of a call, with room for the frame around them. */
export const MAX_VALUE_BYTES = MAX_FRAME_BYTES - 4_096;

/** What the holder knows of one command; the fields after `startedAt` are null until it has ended. */
export interface CommandRecord {
  id: string;
  /** SHA-256 of runtime and code, so that an id cannot be reused for other content. */
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
  /** Imports that are not installed, because of which nothing was run. Absent where there are none. */
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
  /** Why the disk takes nothing at the moment. Absent, as the next, in answers of holders before 0.2. */
  degraded?: string | null;
  /** Processes of ended epochs that could not be ended and still run. */
  survivors?: number[];
  /** Present: the log lost its end, up to `end`, while no holder lived. What else is missing its files tell. */
  lost?: Part;
  /** Where the next command begins; in answers to `status` alone, and of no holder before 0.3. */
  folder?: string | null;
}

/** When `observe` answers. `from` is the offset that "output" counts from. */
export type Until =
  | { kind: 'yield'; settings: YieldSettings; sinceMs?: number }
  | { kind: 'exit' | 'output' | 'idle' | 'needs_input'; from: number; timeoutMs: number };

export type ObserveReason = 'exit' | 'output' | 'idle' | 'timeout' | YieldReason;

export interface RunRequest {
  id: string;
  contentHash: string;
  runtime: Runtime;
  code: string;
  /**
   * Present: nothing is run where an import is not installed. Of nodejs it lists the imports to look for; Python's are
   * found by its own parser. Holders before 0.3 do not look.
   */
  checkImports?: CodeImport[];
  /** Folder of the stubs by which its scripts call tools; absent where they are not to. */
  tools?: string;
}

/** A call that a script makes. The id is the holder's: unique in the life of the session. */
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

/** What a script gets. `callId` is null for what was refused before it became a call. */
export type ScriptAnswer = { callId: string | null } & (
  { ok: true; value: JsonValue } | { ok: false; error: ToolError }
);

export interface InputRequestFrame {
  id: string;
  text: string | null;
  /** False: no Enter behind the text. Holders before 0.2 do not know it and press Enter. */
  enter?: boolean | undefined;
  keys: Key[];
}

export interface TerminalSize {
  cols: number;
  rows: number;
}

/** What somebody at the terminal is told beside its output, which lies in the log. */
export interface AttachedState {
  /** Size of the log in bytes. */
  end: number;
  epoch: number;
  /** Id of the command that runs; null where nothing does. */
  running: string | null;
  /** Who types; null where nobody does. */
  typist: string | null;
  size: TerminalSize;
}

/** Each verb with what it takes and gives. */
export interface Verbs {
  run: { request: RunRequest; answer: Snapshot };
  /** What stands for `{{secret:NAME}}` in code and input from now on; masked in all that leaves the session. */
  secrets: { request: { values: Record<string, string> }; answer: { taken: true } };
  observe: { request: { until: Until }; answer: { reason: ObserveReason; snapshot: Snapshot } };
  status: { request: Record<string, never>; answer: Snapshot };
  input: { request: InputRequestFrame; answer: { at: number; snapshot: Snapshot } };
  /** Makes this connection one that watches or types, until it closes. */
  attach: {
    request: { typist: { who: string; take: boolean } | null; size: TerminalSize | null };
    answer: AttachedState;
  };
  /** Answers when the log is longer than `from`, or anything differs from `seen`. */
  watch: { request: { from: number; seen: Omit<AttachedState, 'end'> }; answer: AttachedState };
  /** Raw bytes, in base64, from the connection that types. */
  type: { request: { bytes: string }; answer: { typed: boolean } };
  resize: { request: TerminalSize; answer: Record<string, never> };
  reset: { request: { id: string; reason: string | null; by: KilledBy['by'] }; answer: Snapshot };
  /** From a script, with its command's token in place of the holder's: answers when the tool has. */
  call: { request: Pick<ScriptCall, 'tool' | 'args' | 'cwd'>; answer: ScriptAnswer };
  /** Calls of scripts that came, or were cancelled, after change number `seen`; waits until there is one. */
  calls: {
    request: { seen: number };
    answer: { version: number; calls: ScriptCall[]; cancelled: CancelledCall[] };
  };
  /**
   * Lets scripts that only the terminal of the running command reaches call tools. `print` answers with the line that
   * a shell there has to read; `type` types it, and answers when that shell is connected; `off` ends it.
   */
  arm: { request: { mode: 'print' | 'type' | 'off' }; answer: { line: string | null } };
  /** Ends a call. */
  answer: { request: { id: string; answer: ScriptAnswer }; answer: Record<string, never> };
  /** Nobody waits any more for this connection's request with this id: what waits is let go, and is not answered. */
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

/** Cuts a byte stream into frames. Throws on a frame above 16 MiB or that is not JSON. */
export class FrameDecoder<T> {
  private chunks: Buffer[] = [];
  private held = 0;
  /** Of the next frame with its length, as far as that is known. */
  private wanted = HEAD_BYTES;

  /** Of a frame that is not whole yet. */
  get heldBytes(): number {
    return this.held;
  }

  push(chunk: Buffer): T[] {
    this.chunks.push(chunk);
    this.held += chunk.length;
    const frames: T[] = [];
    // Joined only when there is something to read: a large frame comes in many chunks.
    while (this.held >= this.wanted) {
      const joined = this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks);
      this.keep(this.cut(joined, frames));
    }
    return frames;
  }

  /** Reads what is whole, and returns the rest. */
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
