// What the activity `callModel` answers. Plain JSON, no I/O.
import type { ParsedReply, Usage } from '../agents/agent';
import type { WithExtras } from './reply-extras';
import type { SpawnPlan } from '../schemas/agent';

export interface ModelReply extends WithExtras {
  /** For a malformed reply: the text as the model wrote it. */
  text?: string;
  parsed: ParsedReply;
  usage?: Usage;
  /** The most tokens that the model can read, if known. */
  window?: number;
}

/** What the turn is to do about the calls. No part of the conversation. */
export interface PlannedReply extends ModelReply {
  /** By call id, of the calls whose sub-agents the turn asks its agent for. */
  plans?: Record<string, SpawnPlan>;
  /** The calls may change files of a workspace that has checkpoints. */
  checkpoint?: true;
}
