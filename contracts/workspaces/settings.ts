// `[checkpoints]` of the configuration, as the rest of the program knows it. Pure.
import { MIB } from '../sessions/quotas';

/** `auto`: for workspaces in a git repository. */
export const CHECKPOINTS_ENABLED = ['auto', 'on', 'off'] as const;

export interface CheckpointSettings {
  enabled: (typeof CHECKPOINTS_ENABLED)[number];
  /** Patterns, as in .gitignore, of ignored files that checkpoints hold all the same. */
  include: readonly string[];
  /** A larger file is left out. */
  maxFileBytes: number;
  /** A workspace with more files has no checkpoints. */
  maxFiles: number;
  /** A workspace whose files are larger together has no checkpoints. */
  maxBytes: number;
  /** The store of a host: when it is full, no further checkpoint is taken. */
  storeBytes: number;
}

export const DEFAULT_CHECKPOINTS: CheckpointSettings = {
  enabled: 'auto',
  include: [],
  maxFileBytes: 64 * MIB,
  maxFiles: 200_000,
  maxBytes: 4_096 * MIB,
  storeBytes: 8_192 * MIB,
};
