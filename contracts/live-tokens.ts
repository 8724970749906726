// What a worker tells those who watch a model write: beside history, kept nowhere. Plain JSON, one line each.

export type LiveToken =
  | { kind: 'text'; agent: string; turn: string; text: string }
  /** What was shown of the reply counts no more: the call is made again, or its worker is gone. */
  | { kind: 'reset'; agent: string; turn: string }
  /** The reply is whole; it stands in the transcript from now on. */
  | { kind: 'end'; agent: string; turn: string };

/** The first line of a watcher. */
export interface WatchRequest {
  token: string;
  agent: string;
}

/** Where a worker's hub listens: a file of its own in this folder of the data folder, readable by its user only. */
export interface LiveTokensRecord {
  pid: number;
  socketPath: string;
  token: string;
}

export const LIVE_TOKENS_FOLDER = 'live-tokens';
