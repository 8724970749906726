// A person's place at a session's terminal, on this machine or on one that listens: output comes from the log, input
// goes straight to the holder. Does not need Temporal.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { SessionRef } from '../../contracts/ids';
import { HolderGone } from '../client/holder-client';
import { HolderConnections } from '../client/holder-connections';
import type { HolderPulse } from '../client/holder-pulse';
import { shownPiece, type Piece } from '../output/log-reader';
import { TailReader } from '../output/tail-reader';
import type { AttachedState, TerminalSize, Verbs } from '../protocol';
import type { RemoteTerminal } from './remote-terminal';
import { sessionPaths } from '../session-paths';

const CHUNK_BYTES = 256 * 1024;

/** Output, a missing part of the output, or a change of state. */
export type Change = ({ kind: 'output' | 'missing' } & Piece) | { kind: 'state'; state: AttachedState };

type TerminalVerbs = Pick<Verbs, 'watch' | 'type' | 'resize'>;

/** The holder, or the machine that forwards to it. */
interface Terminal {
  request<K extends keyof TerminalVerbs>(
    verb: K,
    body: TerminalVerbs[K]['request'],
  ): Promise<TerminalVerbs[K]['answer']>;
  close(): void;
}

export class Attachment {
  /** The log offset up to which `changes` has yielded. */
  printedTo = 0;

  private constructor(
    private readonly client: Terminal,
    /** Reads the next piece of the log. */
    private readonly log: (from: number, to: number) => Piece | Promise<Piece>,
    /** The last reported state. */
    public state: AttachedState,
  ) {}

  /**
   * Attaches to a session on this machine. With `typist` this connection may type.
   * Throws `not_found` if no holder is alive or its release has no attach, `typist_busy` if somebody else types, and
   * `session_unreachable` (like all later calls) if the holder is alive but does not answer.
   */
  static async open(
    dataDir: string,
    ref: SessionRef,
    request: Verbs['attach']['request'],
  ): Promise<Attachment> {
    const connections = new HolderConnections(dataDir);
    try {
      const { state, holder } = await attachTo(connections, ref, request);
      const tail = new TailReader(sessionPaths(dataDir, ref).log);
      const terminal: Terminal = {
        request: (verb, body) => holder.request(verb, body),
        close: () => (tail.close(), holder.close()),
      };
      return new Attachment(terminal, (from, to) => tail.next(from, to), state);
    } catch (err) {
      connections.closeAll();
      throw err;
    }
  }

  /**
   * Like `open`, for a machine that listens; all calls throw `host_unreachable` when it is away, or the way there. If this
   * throws, the caller closes the connection.
   */
  static async openRemote(
    terminal: RemoteTerminal,
    request: Verbs['attach']['request'],
  ): Promise<Attachment> {
    const state = await terminal.ask('attach', request);
    const holder: Terminal = {
      request: (verb, body) => terminal.ask(verb, body),
      close: () => terminal.close(),
    };
    return new Attachment(holder, (from, to) => terminal.readUpTo(from, to), state);
  }

  /** The log between two offsets, with a note in place of each missing part. */
  async read(from: number, to: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let at = from; at < to;) {
      const piece = await this.piece(at, to);
      if (piece.to === at) break;
      pieces.push(shownPiece(piece));
      at = piece.to;
    }
    return Buffer.concat(pieces);
  }

  private async piece(at: number, to: number): Promise<Piece> {
    return this.log(at, Math.min(to, at + CHUNK_BYTES));
  }

  /** Everything from byte `from` on as it arrives, until the session's terminal is gone or `close` is called. */
  async *changes(from: number): AsyncGenerator<Change> {
    for (this.printedTo = from; ;) {
      while (this.printedTo < this.state.end) {
        const piece = await this.piece(this.printedTo, this.state.end).catch(endOfTerminal);
        if (!piece) return;
        if (piece.to === this.printedTo) break;
        yield { kind: piece.missing ? 'missing' : 'output', ...piece };
        this.printedTo = piece.to;
      }
      const seen = this.state;
      const next = await this.client.request('watch', { from: this.printedTo, seen }).catch(endOfTerminal);
      if (!next) return;
      this.state = next;
      if (isDifferent(seen, next)) yield { kind: 'state', state: next };
    }
  }

  /**
   * False if nothing was typed: nothing runs, or not `command`, or it does not read, or somebody else has taken over the
   * keyboard. What was typed under an id before is not typed again.
   */
  async type(
    bytes: Buffer,
    { id, command }: { id?: string; command?: string | undefined } = {},
  ): Promise<boolean> {
    const answer = await this.client
      .request('type', { bytes: bytes.toString('base64'), id, command })
      .catch(endOfTerminal);
    return answer?.typed ?? false;
  }

  async resize(size: TerminalSize): Promise<void> {
    await this.client.request('resize', size).catch(endOfTerminal);
  }

  /** Detaches; the session continues. */
  close(): void {
    this.client.close();
  }
}

/** Attaches to the holder over a connection that represents one person. Throws like `Attachment.open`. */
export async function attachTo(
  connections: HolderConnections,
  ref: SessionRef,
  request: Verbs['attach']['request'],
): Promise<{ state: AttachedState; holder: HolderPulse }> {
  const state = await connections.ask(ref, 'attach', request);
  const holder = await connections.made(ref);
  if (state && holder) return { state, holder };
  throw noTerminal(ref);
}

function endOfTerminal(err: unknown): undefined {
  if (!(err instanceof HolderGone)) throw err;
}

const isDifferent = (
  before: Omit<AttachedState, 'end'>,
  { epoch, running, typist, size }: AttachedState,
): boolean =>
  before.epoch !== epoch ||
  before.running !== running ||
  before.typist !== typist ||
  before.size.cols !== size.cols ||
  before.size.rows !== size.rows;

export const noTerminal = ({ agent, session }: SessionRef): HoldfastError =>
  new HoldfastError('not_found', {
    what: 'A terminal to attach to',
    got: `session ${session} of agent ${agent}`,
    next: 'Start something in it (`holdfast exec`, or `holdfast attach --run CODE`), or see `holdfast ps`.',
  });
