// What a rewind brings back: files of a workspace, messages of a conversation, or both. Plain JSON, no I/O.
import type { ChangeCounts, RewoundFiles } from './checkpoints';

export const REWOUND_PARTS = ['both', 'files', 'conversation'] as const;
export type RewoundPart = (typeof REWOUND_PARTS)[number];

/** As the conversation records it. */
export interface Rewind {
  /** Its own number in the conversation: a rewind is a step, and can be undone by another one to the step before it. */
  step: number;
  /** The step whose end was brought back. */
  to: number;
  /** The id of the message that asked for it. */
  id?: string;
  /** How many of the messages before it the model still sees; absent if only files were rewound. */
  keeps?: number;
  /** Absent if only the conversation was rewound. */
  files?: {
    hash: string;
    before: string;
    counts: ChangeCounts;
    /** How many files are not as they were. */
    notRestored?: number;
    /** How many files and folders were in the way. */
    movedAside?: number;
  };
}

/** The answer to `rewind`. */
export interface RewindResult {
  /** The step of the rewind itself; null if it was only a look. */
  step: number | null;
  to: number;
  /** Null: files were not asked for. */
  files: RewoundFiles | null;
  /** How many messages the model no longer sees; null: the conversation was not asked for. */
  messages: number | null;
  /** Sessions of the agent in which commands are still running: they may change files again. */
  running: number[];
}
