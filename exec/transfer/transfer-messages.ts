// What the two sides of a transfer of files say to each other. The sender walks its tree depth first: an entry, its
// bytes, their sum; a folder is left after its entries. The receiver keeps the folder that it is in, so that no name
// of the sender's can lead out of it.
import type { ErrorCode, ErrorFacts } from '../../contracts/errors/holdfast-error';

/** One name of a path, each byte as the character of that number: names need not be UTF-8. */
export type Name = string;

export interface SentError {
  code: ErrorCode;
  facts: ErrorFacts;
}

/** Where on a host: a path of bytes, relative to `base`, which is relative to the host's working folder. */
export interface Place {
  base: Name | null;
  path: Name;
}

/** What a client wants from a host; the first line of its connection. */
export type FilesRequest =
  /** The host sends a file or a folder. A part of a file with `range`; `digest`: its SHA-256 comes first. */
  | ({ is: 'get'; range?: Range; digest?: true; only?: 'file' } & Place)
  /** The host receives one. */
  | ({ is: 'put'; clobber: boolean; only?: 'file' } & Place)
  /** How many bytes of an interrupted upload are there. */
  | ({ is: 'uploaded'; id: string; size: number } & Place);

/** Of a file: the first byte, and the one after the last. Negative `from`: from the end. */
export interface Range {
  from: number;
  to: number | null;
  /** Another version of the file is sent as a whole. */
  ifVersion?: string;
}

export const KINDS = ['file', 'folder', 'link'] as const;

export interface Entry {
  is: 'entry';
  /** Counted from 0. */
  n: number;
  name: Name;
  kind: (typeof KINDS)[number];
  /** Permissions; the receiver keeps the lowest nine bits. */
  mode: number;
  /** The content comes from no file: a file that it replaces keeps its mode, and a new one gets the receiver's. */
  isModeless?: true;
  /** The size of a file; null: known at its end. */
  size: number | null;
  /** Of the file as it is now: a name for its version, for clients that cache. */
  version?: string;
  /** Of a file that is worth resuming: names its content. The sender then waits for `from`. */
  id?: string;
  /** The target of a link. */
  target?: Name;
  /** In hexadecimal, if it was asked for. */
  sha256?: string;
  /** The part of a file that is sent. */
  range?: { from: number; to: number; size: number };
}

export type Message =
  | Entry
  /** Where a file goes on; null: from its first byte, because the beginnings differ. */
  | { is: 'go'; n: number; offset: number }
  /** The end of a file: of all its bytes, or of the part that was asked for. */
  | { is: 'sum'; n: number; sha256: string; bytes: number }
  /** The file changed while it was read: what came is void, and its entry comes again. */
  | { is: 'again'; n: number }
  /** The sender cannot read it. */
  | { is: 'broken'; n: number; name: Name; error: SentError }
  /** Not a file, folder or link. */
  | { is: 'skipping'; name: Name; why: string }
  | { is: 'leave' }
  /** Everything was sent, or reported. */
  | { is: 'end' }
  /** Receiver: it has `offset` bytes of this content, with this sum. */
  | { is: 'from'; n: number; offset: number; sha256: string }
  /** Of a folder, `into` names the one in which its entries are put; see `OpenFolder.identity`. */
  | { is: 'done'; n: number; sha256: string; into?: string }
  | { is: 'skipped'; n: number; why: string }
  | { is: 'failed'; n: number; error: SentError }
  /** Everything is in place that `done` was said of. */
  | { is: 'ended' }
  /** The answer to `uploaded`. */
  | { is: 'there'; bytes: number }
  /** The transfer ends here. */
  | { is: 'fatal'; error: SentError }
  /** Somebody is still there. */
  | { is: 'pulse' };

/** What a request does on the host. */
export const effectOf = ({ is }: FilesRequest): 'looks' | 'mutates' => (is === 'put' ? 'mutates' : 'looks');
