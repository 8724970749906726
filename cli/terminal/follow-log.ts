// Prints a session's output as it arrives: from the log, if it is on this machine or on a listening host, else page by
// page through Temporal.
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { OutputRequest } from '../../contracts/schemas/session';
import { hasEnded, MAX_PAGE_BYTES, type CommandView } from '../../contracts/sessions/session';
import { wasNotRun } from '../../contracts/sessions/not-run';
import type { CommandRecord } from '../../exec/protocol';
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

/** Whether a view is of the command: what it installs and runs after that has ids below its own. */
const isOfCommand = ({ commandId }: CommandView, id: string): boolean =>
  commandId === id || (commandId?.startsWith(`${id}/`) ?? false);

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

/** @param record the command's own; undefined until it begins */
export function followLog(path: string, record: () => CommandRecord | undefined): Follower {
  const filter = inertFor(process.stdout);
  const stopped = new AbortController();
  const isSentAgain = typeof record()?.endedAt === 'number';
  // Null until the command has begun: earlier output belongs to another command.
  let at: number | null = null;
  const print = async (from: number, to: number): Promise<number> => {
    for (at = from; at < to;) {
      const piece = nextPiece(path, at, Math.min(at + CHUNK_BYTES, to));
      if (piece.to === at) break;
      at = piece.to;
      await write(filter.push(shownPiece(piece)));
    }
    return at;
  };
  const look = async (): Promise<void> => {
    const command = record();
    // Of one that was lost before, only its view is to be trusted.
    if (!command || command.lost) return;
    const { from, to } = command;
    // Where imports were missing, they are installed, and the code runs again.
    const isOpen = to === null || (wasNotRun(command) && !isSentAgain);
    await print(at ?? from, isOpen ? logEnd(path) : to);
  };
  const looking = keepLooking(look, () => LOOK_EVERY_MS, stopped.signal);
  // `finish` reports it: an unhandled rejection would end the process.
  looking.catch(() => undefined);
  const finish = async (view: Ended): Promise<void> => {
    const { to } = view;
    stopped.abort();
    await looking;
    const end = await print(at ?? view.from, to);
    await write(filter.end());
    if (end < to) throw truncated(path, end, to);
  };
  return { finish, stop: () => stopped.abort() };
}

/**
 * For listening hosts: the log, over a connection that this follower closes. If that is lost, since the host's worker was
 * replaced or the network was cut, the rest comes page by page through Temporal.
 * @param start where in the log; null: where the command begins, because something runs there before
 */
export const followRemote = (
  terminal: RemoteTerminal,
  session: SessionHandle,
  command: { id: string; start: number | null },
): Follower => new RemoteFollower(terminal, session, command);

class RemoteFollower implements Follower {
  private readonly filter = inertFor(process.stdout);
  private readonly stopped = new AbortController();
  private readonly looking: Promise<void>;
  /** Null until the command has begun. */
  private at: number | null;
  /** Once the connection is lost, pages are read instead. */
  private isLost = false;

  constructor(
    private readonly terminal: RemoteTerminal,
    private readonly session: SessionHandle,
    private readonly command: { id: string; start: number | null },
  ) {
    this.at = command.start;
    const pauseMs = (): number => (this.isLost || this.at === null ? LOOK_THROUGH_TEMPORAL_MS : 0);
    this.looking = keepLooking(() => this.look(), pauseMs, this.stopped.signal);
    // `finish` reports it: an unhandled rejection would end the process.
    this.looking.catch(() => undefined);
  }

  async finish(view: Ended): Promise<void> {
    const { to } = view;
    this.stopped.abort();
    let end: number;
    try {
      await this.looking;
      end = await this.printRest(view);
    } finally {
      this.terminal.close();
    }
    await write(this.filter.end());
    if (end < to) throw truncated(`of ${this.terminal.ref.host}`, end, to);
  }

  stop(): void {
    this.stopped.abort();
    this.terminal.close();
  }

  private async look(): Promise<void> {
    if (this.at !== null) {
      await this.printNext(this.at, this.stopped.signal);
      return;
    }
    const view = await this.session.output();
    if (isOfCommand(view, this.command.id) && !hasEnded(view)) this.at = view.from;
  }

  /** Returns where what could be read ends. */
  private async printRest({ from, to }: Ended): Promise<number> {
    const { start } = this.command;
    const never = new AbortController().signal;
    // It had ended before: it was sent again, with its id.
    const isSentAgain = start !== null && to <= start;
    let next = isSentAgain ? from : (this.at ?? from);
    for (let before = -1; before < next && next < to;) {
      before = next;
      next = await this.printNext(next, never, to);
    }
    return next;
  }

  /** Prints what is next, and returns where that ends; with `upTo` at once, and no more than that. */
  private async printNext(from: number, signal: AbortSignal, upTo?: number): Promise<number> {
    const piece = await this.read(from, upTo === undefined ? REMOTE_WAIT_MS : 0, signal);
    if (piece) {
      const shown = upTo === undefined ? piece : pieceUpTo(piece, upTo);
      return this.print(shown.to, shownPiece(shown));
    }
    if (!this.isLost) return from;
    const page = await this.session.output(
      upTo === undefined ? { ...PAGE, from, ...NEXT } : pageOf(from, upTo),
    );
    return this.print(page.to, Buffer.from(page.output));
  }

  private async read(from: number, waitMs: number, signal: AbortSignal): Promise<Piece | undefined> {
    if (this.isLost) return undefined;
    const silent = AbortSignal.timeout(waitMs + SILENT_MS);
    try {
      return await this.terminal.read(from, waitMs, AbortSignal.any([signal, silent]));
    } catch {
      // Its last wait may go unanswered: `finish` reads the rest.
      this.isLost = !signal.aborted;
      return undefined;
    }
  }

  private async print(to: number, bytes: Buffer): Promise<number> {
    this.at = to;
    await write(this.filter.push(bytes));
    return to;
  }
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
    } else if (isOfCommand(view, commandId)) at = view.from;
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
