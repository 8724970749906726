// What is held until somebody says yes or no. Plain JSON, no I/O.
/** What the policy says of a command or a tool call. */
export const DECISIONS = ['allow', 'ask', 'deny'] as const;
export type Decision = (typeof DECISIONS)[number];

/** Why something is held or refused: a rule of the policy, and what was found. */
export interface PolicyReason {
  /** `destructive`, `tool write_file`, `host prod`, `agent review`. */
  rule: string;
  /** One line for people. */
  found: string;
}

/** One value of what is asked about: the code, or an argument. */
export interface ShownValue {
  name: string;
  /** Whole, or its beginning and its end. */
  text: string;
  /** Of the whole. */
  bytes: number;
  /** Characters that were left out of the middle; 0: none. */
  omitted: number;
}

/** Why and for how long something is held. */
export interface Hold {
  /** Of exactly the code, or of the tool and its arguments, and of where it is to run: hexadecimal SHA-256. */
  hash: string;
  reasons: PolicyReason[];
  /** The question is answered with no after so long, in milliseconds. */
  expiresMs: number;
  /** Where it is to run; absent in what releases before 0.3 have asked. */
  place?: Place;
}

/** Where something is to run. */
export interface Place {
  host: string;
  /** Null: where the host begins its shells, or not known. */
  cwd: string | null;
}

/** The host's answer to a command that the policy has somebody asked about: nothing of it was run. */
export interface HeldCommand {
  held: Hold;
}

export interface ToolHold extends Hold {
  /** The call in one line, for who is asked. */
  what: string;
  /** Its arguments are not to be shown. */
  secret?: boolean;
  /** What is shown of arguments that do not come with the call. */
  values?: ShownValue[];
}

/** Something that waits for somebody. */
export interface Approval {
  id: string;
  /** One line: the command's first line, or the tool. */
  what: string;
  hash: string;
  reasons: PolicyReason[];
  /** ISO 8601, as the next. */
  askedAt: string;
  expiresAt: string;
  agent?: string;
  place?: Place;
  /** `terminal`, `python`, `nodejs`, or the tool's name. */
  runs?: string;
  /** The whole code, or all arguments; a long one is cut, and whole in the answer to `approvals` with an id. */
  values?: ShownValue[];
}

export interface ApprovalsRequest {
  id?: string;
}

export interface ApproveRequest {
  /** Which one; default: the only one that waits. */
  id?: string;
  /** Must be that of what waits, where it is given. */
  hash?: string;
  /** `session`: the same rules are not asked about again as long as this session or turn lasts. Default `once`. */
  scope?: 'once' | 'session';
  /** Who says so, for the record. */
  by?: string;
}

export interface DenyRequest {
  id?: string;
  by?: string;
  /** The model reads it. */
  reason?: string;
}

/** To an agent, which hands it on: to one of its sessions, or without one to its turn. */
export type ForSession<T> = T & { session?: number; host?: string };

/** What a session or a turn carries over continue-as-new. */
export interface ApprovalsRecord {
  waiting: Approval[];
  /** Answers that came before who asked goes on. */
  answers: Record<string, { approved: boolean; by: string | null; reason: string | null }>;
  /** Rules that were approved for as long as it lasts. */
  cleared: string[];
}
