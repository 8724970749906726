// What agents, turns and sessions wait for. Plain JSON, no I/O.

/** Something that somebody else has to give; `none`: it works, or it has ended. */
export const WAITS_FOR = ['message', 'input', 'approval', 'agents', 'person', 'quota', 'none'] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

/** What something waits for, since when (ISO 8601), and the workflow that knows more or takes the answer. */
export interface Wait {
  for: Exclude<WaitsFor, 'none'> | 'model' | 'tools' | 'turn';
  since: string;
  workflowId: string;
}
