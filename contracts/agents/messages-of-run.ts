// Where messages of a conversation are recorded. Plain JSON, no I/O.

/** The first messages of a run: enough to read them, and to check whether a copy of them is the same. */
export interface MessagesOfRun {
  workflowId: string;
  runId: string;
  count: number;
  /** Their size as JSON, with one byte for each separator. */
  bytes: number;
}
