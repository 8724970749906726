// Prints a session's output as it arrives: from the log, if it is on this machine or on a listening host, else page by
// page through Temporal.
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { MAX_PAGE_BYTES, type CommandView } from '../../contracts/sessions/session';
import { logEnd, nextPiece, shownPiece, truncated, type Piece } from '../../exec/output/log-reader';
import type { RemoteTerminal } from '../../exec/attach/remote-terminal';
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
export const PAGE = { maxBytes: MAX_PAGE_BYTES };
export const NEXT = { wait: 'output', waitMs: 5_000 } as const;

export interface Follower {
  /** Prints the rest of this view's command, and ends. */
  finish(view: Pick<CommandView, 'from' | 'to'>): Promise<void>;
  stop(): void;
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
  const loop = (async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await print(logEnd(path));
      await delay(LOOK_EVERY_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  })();
  const finish = async ({ to }: { to: number }): Promise<void> => {
    stopped.abort();
    await loop;
    await print(to);
    await write(filter.end());
    if (at < to) throw truncated(path, at, to);
  };
  return { finish, stop: () => stopped.abort() };
}

/**
 * For listening hosts: the log, over a connection that this follower closes. If that is lost, since the host's worker was
 * replaced or the network was cut, the rest comes page by page through Temporal.
 */
export async function followRemote(terminal: RemoteTerminal, session: SessionHandle): Promise<Follower> {
  const filter = inertFor(process.stdout);
  const stopped = new AbortController();
  let at = await terminal.end();
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
  const look = async (wait: typeof NEXT | null, signal: AbortSignal): Promise<boolean> => {
    const piece = await read(wait ? REMOTE_WAIT_MS : 0, signal);
    if (piece) return print(piece.to, shownPiece(piece));
    if (!isLost) return false;
    const page = await session.output({ ...PAGE, from: at, ...wait });
    return print(page.to, Buffer.from(page.output));
  };
  const loop = (async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await look(NEXT, stopped.signal).catch((err: unknown) => {
        // The host may be away for a while.
        if (!(err instanceof HoldfastError)) throw err;
      });
      if (isLost)
        await delay(LOOK_THROUGH_TEMPORAL_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  })();
  // `finish` reports it: an unhandled rejection would end the process with a stack trace.
  loop.catch(() => undefined);
  const finish = async ({ to }: { to: number }): Promise<void> => {
    stopped.abort();
    const never = new AbortController().signal;
    try {
      await loop;
      while (at < to && (await look(null, never)));
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
  const loop = (async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await look().catch((err: unknown) => {
        // The session may not have been opened yet.
        if (!isMissing(err)) throw err;
      });
      await delay(LOOK_THROUGH_TEMPORAL_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  })();
  loop.catch(() => undefined);
  const finish = async ({ from, to }: { from: number; to: number }): Promise<void> => {
    stopped.abort();
    await loop;
    for (let next = at ?? from; next < to;) {
      const page = await session.output({ ...PAGE, from: next });
      if (page.to === next) break;
      next = page.to;
      await write(filter.push(Buffer.from(page.output)));
    }
    await write(filter.end());
  };
  return { finish, stop: () => stopped.abort() };
}

const isMissing = (err: unknown): boolean => err instanceof HoldfastError && err.code === 'not_found';

function write(text: string): Promise<void> {
  if (text === '') return Promise.resolve();
  return new Promise((resolve, reject) =>
    draw(text, process.stdout, (err) => (err ? reject(err) : resolve())),
  );
}
