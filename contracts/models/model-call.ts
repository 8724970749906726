// What the activities `callModel` and `compact` are asked for. Plain JSON, no I/O.
import type { JsonSchema } from '../json';
import type { DialectName } from './dialect-names';
import type { Usage } from '../agents/agent';
import type { MessagesOfRun } from '../agents/messages-of-run';

/** Input of the activity `compact`: it finds the messages themselves, pinned to these counts. */
export interface SummaryCall {
  agent: string;
  model: string;
  dialect?: DialectName | undefined;
  instructions?: string | undefined;
  outputSchema?: JsonSchema | undefined;
  /** Names of the tools that are described to it; absent: all. */
  tools?: string[] | undefined;
  /** Where its tools run: an approval is bound to it. */
  host?: string | undefined;
  cwd?: string | undefined;
  turn: MessagesOfRun;
  earlier: Omit<MessagesOfRun, 'workflowId'>;
  /** Names it within the run of a turn; an agent's own has none. */
  key?: string | undefined;
  /** There is no room to keep the conversation, so that a summary that was cut off is better than none. */
  takesCut?: true | undefined;
}

/** Input of the activity `callModel`. */
export interface ModelCall extends Omit<SummaryCall, 'takesCut'> {
  /** The keys of its reply's calls begin with it. */
  key: string;
}

export interface WrittenSummary {
  text: string;
  /** At the length limit of the model's replies. */
  isCut?: boolean;
}

/** Replaces messages that the model no longer sees. It is cut off only where the call takes that. */
export interface Compaction extends WrittenSummary {
  usage?: Usage;
}

/** What the heartbeats of `compact` pass to the next attempt, and the workflow if there is none. */
export interface SummaryProgress {
  /** The usage of each request so far; null where it is not known. */
  used: (Usage | null)[];
  /** The whole summary, or the longest that was cut off. */
  best?: WrittenSummary;
}
