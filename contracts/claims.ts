// Which data folder serves a task queue: what a claim says, and how its workflow is called. Plain JSON, no I/O.
/** What the workers of an agents' queue offer: each part, for example `tool shell`, with a short hash or value. */
export type Offer = Readonly<Record<string, string>>;

/** Who serves a task queue, as the claim's memo says it. */
export interface ClaimFacts {
  /** Of the data folder itself: it stays the same wherever the folder is mounted. */
  folderId: string;
  dataDir: string;
  machine: string;
  /** The process that made the claim. */
  maker: { pid: number; startTime: string; bootId: string };
  /** One set of workers: a process may have several. */
  instance: string;
  /** Of an agents' queue alone: what its workers have to offer. */
  offer?: Offer;
}

/** Key of a claim's memo. */
export const CLAIM_MEMO = 'holdfastClaim';

export const claimWorkflowId = (taskQueue: string): string => `claim/${taskQueue}`;

/** For messages and pages: which folder on which machine. */
export const placeOf = ({ dataDir, machine }: Pick<ClaimFacts, 'dataDir' | 'machine'>): string =>
  `${dataDir} on ${machine}`;
