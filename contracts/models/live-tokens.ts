// What a worker sends to those who watch a model write: outside history, stored nowhere. Plain JSON, one line each.

export type LiveToken =
  | { kind: 'text'; agent: string; turn: string; text: string }
  /** Discard what was shown of the reply: the call is repeated, or its worker is gone. */
  | { kind: 'reset'; agent: string; turn: string }
  /** The reply is complete and is now in the transcript. */
  | { kind: 'end'; agent: string; turn: string };

/**
 * The same for watchers on other machines: in the details of the heartbeats of `callModel`, which are in no history. The
 * server keeps only the last one.
 */
export interface WrittenSoFar {
  /** Name of the hub that publishes to the watchers of its own machine. */
  writer: string;
  /** Characters of the reply so far. */
  length: number;
  /** The last of them. */
  end: string;
}

/** The first line that a watcher sends. */
export interface WatchRequest {
  token: string;
  agent: string;
}

/** Where a worker's hub listens: one file per worker in this folder of the data folder, readable by its user only. */
export interface LiveTokensRecord {
  pid: number;
  socketPath: string;
  token: string;
}

export const LIVE_TOKENS_FOLDER = 'live-tokens';
