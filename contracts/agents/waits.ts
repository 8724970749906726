// What agents, turns and sessions wait for. Plain JSON, no I/O.

const FROM_OTHERS = ['message', 'retry', 'input', 'approval', 'agents', 'person', 'quota'] as const;

/**
 * Something that somebody else has to give; `none`: it works, or it has ended. `retry`: the last turn of an agent ended
 * without what was asked for, and a person has neither gone on nor dismissed that.
 */
export const WAITS_FOR = [...FROM_OTHERS, 'none'] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

/** The same of something that is asked itself: `turn`: the turn knows what it waits for. */
export const WAITS = [...FROM_OTHERS, 'model', 'tools', 'turn'] as const;

/** What something waits for, since when (ISO 8601), and the workflow that knows more or takes the answer. */
export interface Wait {
  for: (typeof WAITS)[number];
  since: string;
  workflowId: string;
}
