// Prints a session's output as it arrives: from the log, if it is on this machine or on a listening host, else page by
// page through Temporal.
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { MAX_PAGE_BYTES, type CommandView, type OutputRequest } from '../../contracts/sessions/session';
import { logEnd, nextPiece, shownPiece, truncated, type Piece } from '../../exec/output/log-reader';
import { pieceUpTo, type RemoteTerminal } from '../../exec/attach/remote-terminal';
import { draw } from './guarded-output';
import { inertFor } from './inert-text';

const LOOK_EVERY_MS = 25;
const CHUNK_BYTES = 1024 * 1024;
/** An open connection reports new bytes at once. */
const REMOTE_WAIT_MS = 10_000;
/** What has not answered by then does not. */
const SILENT_MS = 10_000;
/** Each look is recorded in the session's history. */
export const LOOK_THROUGH_TEMPORAL_MS = 1_000;
/** A page has room for any character. */
const MIN_PAGE_BYTES = 4;
export const PAGE = { maxBytes: MAX_PAGE_BYTES };
export const NEXT = { wait: 'output', waitMs: 5_000 } as const;

type Ended = Pick<CommandView, 'from' | 'to' | 'output' | 'omittedBytes'>;

export interface Follower {
  /** Prints the rest of this view's command, and ends. */
  finish(view: Ended): Promise<void>;
  stop(): void;
}

/** Looks until it is stopped. The host, or its log, may be away for a while: `finish` reads what was missed. */
async function keepLooking(
  look: () => Promise<unknown>,
  pauseMs: () => number,
  stopped: AbortSignal,
): Promise<void> {
  while (!stopped.aborted) {
    await look().catch((err: unknown) => {
      if (!(err instanceof HoldfastError)) throw err;
    });
    await delay(pauseMs(), undefined, { signal: stopped }).catch(() => undefined);
  }
}

export function followLog(path: string, from: number): Follower {
  const filter = inertFor(process.stdout);
  const stopped = new AbortController();
  let at = from;
  const print = async (to: number): Promise<void> => {
    while (at < to) {
      const piece = nextPiece(path, at, Math.min(at + CHUNK_BYTES, to));
      if (piece.to === at) return;
      at = piece.to;
      await write(filter.push(shownPiece(piece)));
    }
  };
  const look = async (): Promise<void> => print(logEnd(path));
  const looking = keepLooking(look, () => LOOK_EVERY_MS, stopped.signal);
  // `finish` reports it: an unhandled rejection would end the process.
  looking.catch(() => undefined);
  const finish = async (view: Ended): Promise<void> => {
    const { to } = view;
    stopped.abort();
    await looking;
    // It had ended before: it was sent again, with its id.
    if (to <= from) at = view.from;
    await print(to);
    await write(filter.end());
    if (at < to) throw truncated(path, at, to);
  };
  return { finish, stop: () => stopped.abort() };
}

/**
 * For listening hosts: the log, over a connection that this follower closes. If that is lost, since the host's worker was
 * replaced or the network was cut, the rest comes page by page through Temporal.
 * @param begun where the command began, if it was sent before and still runs
 */
export async function followRemote(
  terminal: RemoteTerminal,
  session: SessionHandle,
  begun?: number,
): Promise<Follower> {
  const filter = inertFor(process.stdout);
  const stopped = new AbortController();
  const start = begun ?? (await terminal.end());
  let at = start;
  let isLost = false;
  const read = async (waitMs: number, signal: AbortSignal): Promise<Piece | undefined> => {
    if (isLost) return undefined;
    const silent = AbortSignal.timeout(waitMs + SILENT_MS);
    try {
      return await terminal.read(at, waitMs, AbortSignal.any([signal, silent]));
    } catch {
      // Its last wait may go unanswered: `finish` reads the rest.
      isLost = !signal.aborted;
      return undefined;
    }
  };
  /** Whether there was more. */
  const print = async (to: number, bytes: Buffer): Promise<boolean> => {
    const isMore = to > at;
    at = to;
    await write(filter.push(bytes));
    return isMore;
  };
  /** Whether there was more; with `upTo` at once, and no more than that. */
  const look = async (signal: AbortSignal, upTo?: number): Promise<boolean> => {
    const piece = await read(upTo === undefined ? REMOTE_WAIT_MS : 0, signal);
    if (piece) {
      const shown = upTo === undefined ? piece : pieceUpTo(piece, upTo);
      return print(shown.to, shownPiece(shown));
    }
    if (!isLost) return false;
    const page = await session.output(upTo === undefined ? { ...PAGE, from: at, ...NEXT } : pageOf(at, upTo));
    return print(page.to, Buffer.from(page.output));
  };
  const pauseMs = (): number => (isLost ? LOOK_THROUGH_TEMPORAL_MS : 0);
  const looking = keepLooking(() => look(stopped.signal), pauseMs, stopped.signal);
  looking.catch(() => undefined);
  const finish = async (view: Ended): Promise<void> => {
    const { to } = view;
    stopped.abort();
    const never = new AbortController().signal;
    try {
      await looking;
      if (to <= start) at = view.from;
      while (at < to && (await look(never, to)));
    } finally {
      terminal.close();
    }
    await write(filter.end());
    if (at < to) throw truncated(`of ${terminal.ref.host}`, at, to);
  };
  return { finish, stop: () => (stopped.abort(), terminal.close()) };
}

/** For other hosts: the text of each page of one command, at most once a second. */
export function followSession(session: SessionHandle, commandId: string): Follower {
  // A page is text from a host: do not trust that host to have made it harmless.
  const filter = inertFor(process.stdout);
  const stopped = new AbortController();
  // Null until the command has begun: earlier output belongs to another command.
  let at: number | null = null;
  const look = async (): Promise<void> => {
    const view = await session.output(at === null ? {} : { ...PAGE, from: at, ...NEXT });
    if (at !== null) {
      at = view.to;
      await write(filter.push(Buffer.from(view.output)));
    } else if (view.commandId === commandId) at = view.from;
  };
  const looking = keepLooking(look, () => LOOK_THROUGH_TEMPORAL_MS, stopped.signal);
  looking.catch(() => undefined);
  const finish = async ({ from, to, output, omittedBytes }: Ended): Promise<void> => {
    stopped.abort();
    await looking;
    const isWhole = at === null && omittedBytes === 0;
    if (isWhole) await write(filter.push(Buffer.from(output)));
    for (let next = isWhole ? to : (at ?? from); next < to;) {
      const page = await session.output(pageOf(next, to));
      if (page.to === next) break;
      next = page.to;
      await write(filter.push(Buffer.from(page.output)));
    }
    await write(filter.end());
  };
  return { finish, stop: () => stopped.abort() };
}

/** Of the bytes before `to` only: those behind may be of another command. */
const pageOf = (from: number, to: number): OutputRequest => ({
  from,
  maxBytes: Math.max(MIN_PAGE_BYTES, Math.min(MAX_PAGE_BYTES, to - from)),
});

function write(text: string): Promise<void> {
  if (text === '') return Promise.resolve();
  return new Promise((resolve, reject) =>
    draw(text, process.stdout, (err) => (err ? reject(err) : resolve())),
  );
}
