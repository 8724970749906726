// Which data folder serves a task queue: a claim's content and its workflow id. Plain JSON, no I/O.
/** What the workers of an agent queue offer: each part, for example `tool shell`, with a short hash or value. */
export type Offer = Readonly<Record<string, string>>;

/** Who serves a task queue, as recorded in the claim's memo. */
export interface ClaimFacts {
  /** Belongs to the data folder itself: the same wherever the folder is mounted. */
  folderId: string;
  dataDir: string;
  machine: string;
  /** The process that made the claim. */
  maker: { pid: number; startTime: string; bootId: string };
  /** One set of workers; a process may have several. */
  instance: string;
  /** For agent queues only: what its workers offer. */
  offer?: Offer;
}

/** The memo key of a claim. */
export const CLAIM_MEMO = 'holdfastClaim';

export const claimWorkflowId = (taskQueue: string): string => `claim/${taskQueue}`;

/** For messages and pages: which folder on which machine. */
export const placeOf = ({ dataDir, machine }: Pick<ClaimFacts, 'dataDir' | 'machine'>): string =>
  `${dataDir} on ${machine}`;
