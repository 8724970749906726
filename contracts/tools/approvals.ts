// Commands and calls that are held until someone approves or denies them. Plain JSON, no I/O.
/** The policy's decision about a command or a tool call. */
export const DECISIONS = ['allow', 'ask', 'deny'] as const;
export type Decision = (typeof DECISIONS)[number];

/** Why something is held or refused: a policy rule, and what was found. */
export interface PolicyReason {
  /** `destructive`, `tool write_file`, `host prod`, `agent review`. */
  rule: string;
  /** One line for people. */
  found: string;
}

/** One value shown to the approver: the code, or an argument. */
export interface ShownValue {
  name: string;
  /** Whole, or its beginning and end. */
  text: string;
  /** Size of the whole value. */
  bytes: number;
  /** Characters left out of the middle; 0: none. */
  omitted: number;
}

/** Why and for how long something is held. */
export interface Hold {
  /** Hexadecimal SHA-256 of exactly the code, or the tool and its arguments, and of where it will run. */
  hash: string;
  reasons: PolicyReason[];
  /** After this many milliseconds it is denied. */
  expiresMs: number;
  /** Where it will run. */
  place: Place;
}

/** Where something will run. */
export interface Place {
  host: string;
  /** Null: where the host starts its shells, or unknown. */
  cwd: string | null;
}

/** The host's answer to a command that needs an approval: none of it was run. */
export interface HeldCommand {
  held: Hold;
}

export interface ToolHold extends Hold {
  /** The call in one line, for the approver. */
  what: string;
  /** Its arguments must not be shown. */
  secret?: boolean;
  /** What is shown of arguments that are not sent with the call. */
  values?: ShownValue[];
  /** When its approval was asked for, in milliseconds since 1970 by the server's clock. Absent until it is approved. */
  askedAt?: number;
}

/** A pending approval. */
export interface Approval {
  id: string;
  /** One line: the command's first line, or the tool. */
  what: string;
  hash: string;
  reasons: PolicyReason[];
  /** ISO 8601, like the next. */
  askedAt: string;
  expiresAt: string;
  agent: string;
  place: Place;
  /** `terminal`, `python`, `nodejs`, or the tool's name. */
  runs: string;
  /** The whole code, or all arguments; a long one is cut here, and whole in the answer to `approvals` with an id. */
  values: ShownValue[];
}

export interface ApprovalsRequest {
  id?: string | undefined;
}

/** Sent to an agent, which forwards it to one of its sessions, or without a session to its turn. */
export type ForSession<T> = T & { session?: number; host?: string };

/** What a session or a turn carries over continue-as-new. */
export interface ApprovalsRecord {
  waiting: Approval[];
  /** Answers that the asker has not picked up yet. */
  answers: Record<string, { approved: boolean; by: string | null; reason: string | null }>;
  /** Rules approved for as long as it lasts. */
  cleared: string[];
}
