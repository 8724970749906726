// What travels over the WebSocket of a terminal, subprotocol `holdfast.terminal.1`. Texts are JSON, one of these; output
// is binary: its offset in the session's log as eight bytes, big-endian, then the bytes themselves. Pure.

export const TERMINAL_PROTOCOL = 'holdfast.terminal.1';

/** The first text of a client. */
export interface Hello {
  kind: 'hello';
  /** The offset after the last byte that the client has; null for the screen as it is now. */
  from: number | null;
  cols: number;
  rows: number;
  /** Whether it types; else it watches. */
  types: boolean;
  /** Takes the keyboard from somebody else who types. */
  take?: boolean | undefined;
  /**
   * A new UUID of each terminal of a client. A connection that comes back under it types on: the one before it may be lost
   * without the gateway knowing.
   */
  client?: string | undefined;
}

export type FromClient =
  | Hello
  /**
   * Keys, in base64. `id` is a new UUID; the same again, from whatever connection of this gateway, types nothing. With
   * `command` they are typed only while that command runs.
   */
  | { kind: 'input'; id: string; data: string; command?: string | undefined }
  | { kind: 'resize'; cols: number; rows: number }
  /** It has drawn everything before this offset: the server sends at most 1 MiB beyond it. */
  | { kind: 'ack'; to: number };

export type FromServer =
  /** Clear, resize, draw: the screen after the byte before `at`. */
  | { kind: 'snapshot'; at: number; cols: number; rows: number; data: string }
  | {
      kind: 'state';
      /** Id of the running command. */
      running: string | null;
      /** Who types. */
      typist: string | null;
      /** Whether this connection does. */
      isTypist: boolean;
      cols: number;
      rows: number;
      end: number;
    }
  | { kind: 'typed'; id: string; typed: boolean }
  /** This part of the output no longer exists. */
  | { kind: 'missing'; from: number; to: number; cause: string }
  /** Every 20 s: a browser shows its page no pings. */
  | { kind: 'alive' }
  /** The connection ends. `retryable`: the same may succeed later. */
  | { kind: 'refused'; problem: { code: string; detail: string; next: string; retryable: boolean } }
  | { kind: 'ended' };

export const OFFSET_BYTES = 8;
export const WINDOW_BYTES = 1024 * 1024;
