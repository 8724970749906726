// One agent in a list, as GET /v1/agents answers (docs/api.md).
import type { AgentState } from '../../contracts/agents/agent';
import type { WaitsFor } from '../../contracts/agents/waits';

export interface AgentEntry {
  id: string;
  workflowId: string;
  runId: string;
  /** Null, like `waitsFor`, where it is not known. */
  state: AgentState['status'] | null;
  waitsFor: WaitsFor | null;
  /** The beginning of its first message. */
  message: string | null;
  /** ISO 8601, like the end's. */
  startedAt: string;
  /** The agent that has started it; null for the topmost. */
  parent: string | null;
  /** Its last turn ended without what was asked for. */
  failure: { turn: number; why: string; at: string } | null;
  /** Null while it is open. `how` is Temporal's word. */
  end: { at: string | null; how: string } | null;
}
