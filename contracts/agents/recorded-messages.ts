// How a workflow hands the messages that it has recorded to the worker that runs it: by a sink, which is called outside
// replay and leaves no trace in history. A model call then needs no query for them, unless it runs in another worker.
import type { Message } from './agent';

export const RECORDED_MESSAGES = 'recordedMessages';

/** A type, not an interface: the SDK wants an index signature. */
export type RecordedMessagesSinks = {
  [RECORDED_MESSAGES]: {
    /** `messages` follow the first `from.count` of the run, which have `from.bytes`. `sizes` are theirs, in bytes. */
    add(from: { count: number; bytes: number }, messages: Message[], sizes: number[]): void;
    /** The run has ended: no model call of it follows. */
    end(): void;
  };
};
