// Which data folder serves a task queue: a claim's content and its workflow id. Plain JSON, no I/O.
/** What the workers of an agent queue offer: each part, for example `tool shell`, with a short hash or value. */
export type Offer = Readonly<Record<string, string>>;

/** Who serves a task queue, as recorded in the claim's memo. */
export interface ClaimFacts {
  /** Belongs to the data folder itself: the same wherever the folder is mounted, and in copies of it. */
  folderId: string;
  /** Where the folder is: differs between machines, their boots, and copies. */
  place: string;
  /** The machine's id, whatever boot; empty if it has none. */
  machineId: string;
  dataDir: string;
  machine: string;
  /** The process that made the claim. */
  maker: { pid: number; startTime: string; bootId: string };
  /** One set of workers; a process may have several. */
  instance: string;
  /** For data folders only: what the maker polls, where others may look whether it still does. */
  queues?: readonly string[];
  /** For agent queues only: what its workers offer. */
  offer?: Offer;
}

/** The memo key of a claim. */
export const CLAIM_MEMO = 'holdfastClaim';

/** Under which a data folder itself is claimed. */
export const folderKey = (folderId: string): string => `folder.${folderId}`;

/** Whether both are at one place. */
export const isSamePlace = (one: ClaimFacts, other: ClaimFacts): boolean => one.place === other.place;

export const claimWorkflowId = (taskQueue: string): string => `claim/${taskQueue}`;

/** For messages and pages: which folder on which machine. */
export const placeOf = ({ dataDir, machine }: Pick<ClaimFacts, 'dataDir' | 'machine'>): string =>
  `${dataDir} on ${machine}`;
