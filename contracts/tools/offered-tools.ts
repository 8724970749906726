// What the agents' worker offers to scripts on hosts without agents. Plain JSON, no I/O.
import type { ToolDescription } from './tools';

/** A tool of the agents' worker: it runs there, wherever the calling script is. */
export interface OfferedTool extends Omit<ToolDescription, 'runsOn'> {
  timeoutMs?: number | null | undefined;
  secret?: boolean | undefined;
}

export interface OfferRequest {
  /** Digest of the offer that the host has; null: none. */
  known: string | null;
}

export interface ToolsOffer {
  digest: string;
  /** Null: the offer that the host has is still valid. */
  tools: OfferedTool[] | null;
  /** Tools that did not fit into one answer: how many, and the first names. */
  leftOut: { count: number; names: string[] };
}
