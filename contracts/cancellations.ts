// How a workflow reports to the worker that runs it which calls it has cancelled: by a sink, which is called outside replay and
// leaves no trace in history. The server notifies an activity, too, but only with the answer to a heartbeat.

export const CANCELLED_CALLS = 'cancelledCalls';

/** A type, not an interface: the SDK wants an index signature. */
export type CancelledCallsSinks = {
  [CANCELLED_CALLS]: {
    /** `key` names the call within its run. */
    report(key: string): void;
  };
};
