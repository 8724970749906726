// How much of a host's disk Holdfast may use, in bytes; and where large values are stored.

export interface Quotas {
  /** The log of one session; beyond that its oldest part is dropped. */
  sessionLogBytes: number;
  /** The logs of all sessions of a host, including closed ones. */
  hostLogBytes: number;
  /** Values too large for history that scripts' calls pass. */
  valueBytes: number;
  /** The same for one agent. */
  agentValueBytes: number;
  /** How long the log and the records of a closed session are kept, in milliseconds. */
  closedSessionMs: number;
}

export const MIB = 1024 ** 2;
export const DAY_MS = 86_400_000;

export const DEFAULT_QUOTAS: Quotas = {
  sessionLogBytes: 512 * MIB,
  hostLogBytes: 4_096 * MIB,
  valueBytes: 2_048 * MIB,
  agentValueBytes: 512 * MIB,
  closedSessionMs: 90 * DAY_MS,
};

/** A team's store of large values: S3, or a server that speaks its protocol. */
export interface BucketPlace {
  bucket: string;
  /** Without slashes at its ends; may be empty. */
  prefix: string;
  /** Default: Amazon's. */
  endpoint?: string | undefined;
  /** Default: that of the environment. */
  region?: string | undefined;
  /** `endpoint/bucket/key` in place of `bucket.endpoint/key`. */
  pathStyle: boolean;
}

/** Shown to people, and equal for the same place. */
export const bucketUrl = ({ bucket, prefix, endpoint }: BucketPlace): string =>
  `s3://${bucket}${prefix && `/${prefix}`}${endpoint ? ` at ${endpoint}` : ''}`;

export interface StorageSettings extends Quotas {
  /** Null: large values are stored in the data folder. */
  bucket: BucketPlace | null;
}
