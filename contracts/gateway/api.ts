// What the API of `holdfast serve` answers beyond what workflows and the client say. Plain JSON, no I/O.
import type { EndReason, Usage } from '../agents/agent';
import type { OpenQuestion } from '../agents/questions';
import type { Wait } from '../agents/waits';
import type { SeenPrompt } from '../schemas/session';
import type { SessionState } from '../sessions/session';

/** Each may do what those before it may. A viewer reads; an operator changes agents; an admin manages tokens. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** An open session; `state` is null if it does not answer. */
export interface SessionEntry {
  agent: string;
  host: string;
  session: number;
  workflowId: string;
  /** ISO 8601. */
  since: string;
  state: SessionState | null;
  waits: Wait | null;
}

/** A pending approval; `key` names it in paths. */
export interface KeyedApproval extends OpenQuestion {
  key: string;
}

/** An agent with those below it. */
export interface AgentTree {
  agent: string;
  /** Null for the topmost. */
  role: string | null;
  status: 'running' | 'ended';
  /** ISO 8601. */
  since: string | null;
  reason: EndReason | null;
  usage: Usage | null;
  agents: AgentTree[];
}

/** Something that waits for a person: also an agent that stopped without what was asked for. */
export interface InboxItem {
  kind: 'approval' | 'input' | 'failed';
  agent: string;
  /** ISO 8601. */
  since: string;
  /** One line for people. */
  text: string;
  approval?: KeyedApproval;
  session?: {
    host: string;
    session: number;
    workflowId: string;
    /** The last lines of the screen. */
    screen: string;
    /** False for a password. */
    echo: boolean;
    /** For `prompt` of an answer. */
    prompt?: SeenPrompt;
  };
  /** Of a failed agent. `isOpen`: it goes on with the next message. `turn`: the one that failed, if it is known. */
  run?: { runId: string; isOpen: boolean; parent: string | null; turn: number | null };
  /** Absent while it is not known. */
  failure?: { code: string; message: string; next: string };
}

export interface UsageLine extends Usage {
  /** An agent's id, a model's name, or a day (UTC, `2026-11-23`). */
  key: string;
}

export interface UsageReport {
  total: Usage;
  byAgent: UsageLine[];
  byTree: UsageLine[];
  byModel: UsageLine[];
  byDay: UsageLine[];
  /** Ids of agents that did not answer in time: what they have used is missing in the sums. */
  unanswered: string[];
}

/** What one step of a search in a log has found. */
export interface Found {
  /** Offset of the match. */
  at: number | null;
  /** Where to go on; null with a match, and at the end. */
  next: number | null;
}

export interface Me {
  name: string;
  role: Role;
  agents: string[];
  /** ISO 8601; null: never. */
  expiresAt: string | null;
  release: { version: string };
  namespace: string;
  /** Where Temporal's web UI shows a workflow, with `{workflowId}` in place of its id; null if none is known. */
  temporalUi: string | null;
}
