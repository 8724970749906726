// What happened to an agent and when, as its workflows' histories record it. Plain JSON, no I/O.

/**
 * `turn`: one message and its answer. `model`: a model call. `tool`: a tool call that ran no command. `command`: code in a
 * shell. `wait`: for a person. `kill`: a worker was killed, and another one goes on. `taken_over`: a command that another
 * worker follows to its end. `silent`: a worker gave no sign of life until its work was given to another.
 */
export const TIME_LINE_KINDS = [
  'turn',
  'model',
  'tool',
  'command',
  'wait',
  'kill',
  'taken_over',
  'silent',
] as const;
export type TimeLineKind = (typeof TIME_LINE_KINDS)[number];

export interface TimeLineEntry {
  kind: TimeLineKind;
  /** When it began; ISO 8601. */
  at: string;
  /** In milliseconds; null while it goes on. */
  durationMs: number | null;
  /** One line for people. It may hold what models and programs have written. */
  text: string;
  /** For example `exit code 1`; null if there is nothing to add. */
  outcome: string | null;
  /** Number of the turn; null for what belongs to none, such as commands of people. */
  turn: number | null;
  /** Index of its message in the conversation; null if the agent's run no longer has it. */
  message: number | null;
  workflowId: string;
  /** Only of commands and their waits. */
  host?: string;
  session?: number;
}

export interface TimeLine {
  /** Oldest first. */
  items: TimeLineEntry[];
  /** Older entries are missing: the histories are too long, or no longer kept. */
  truncated: boolean;
}
