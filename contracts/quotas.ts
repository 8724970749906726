// How much of a host's disk Holdfast may take, in bytes.

export interface Quotas {
  /** The log of one session: its oldest part is dropped beyond that. */
  sessionLogBytes: number;
  /** The logs of all sessions of a host, closed ones too. */
  hostLogBytes: number;
  /** Values that are too large for history, which calls of scripts pass. */
  valueBytes: number;
  /** The same for one agent. */
  agentValueBytes: number;
}

export const MIB = 1024 ** 2;

export const DEFAULT_QUOTAS: Quotas = {
  sessionLogBytes: 512 * MIB,
  hostLogBytes: 4_096 * MIB,
  valueBytes: 2_048 * MIB,
  agentValueBytes: 512 * MIB,
};
