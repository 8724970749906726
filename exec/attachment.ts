// A person's place at a session's terminal, on this machine or on one that listens: what is printed, from the log; what
// is typed, straight to the holder. Knows no Temporal and needs none.
import { HoldfastError } from '../contracts/errors';
import type { SessionRef } from '../contracts/ids';
import { HolderGone } from './holder-client';
import { HolderConnections } from './holder-connections';
import type { HolderPulse } from './holder-pulse';
import { nextPiece, shownPiece, type Piece } from './log-reader';
import type { AttachedState, TerminalSize, Verbs } from './protocol';
import type { RemoteTerminal } from './remote-terminal';
import { sessionPaths } from './session-paths';

const CHUNK_BYTES = 256 * 1024;

/** What came: a piece of the output, that a part of it is missing, or that something beside it is different. */
export type Change = ({ kind: 'output' | 'missing' } & Piece) | { kind: 'state'; state: AttachedState };

type TerminalVerbs = Pick<Verbs, 'watch' | 'type' | 'resize'>;

/** The holder, or the machine that hands on to it. */
interface Terminal {
  request<K extends keyof TerminalVerbs>(
    verb: K,
    body: TerminalVerbs[K]['request'],
  ): Promise<TerminalVerbs[K]['answer']>;
  close(): void;
}

export class Attachment {
  /** Up to where `changes` has given out the log. */
  printedTo = 0;

  private constructor(
    private readonly client: Terminal,
    /** The log's next piece. */
    private readonly log: (from: number, to: number) => Piece | Promise<Piece>,
    /** As it was last told. */
    public state: AttachedState,
  ) {}

  /**
   * Attaches to a session on this machine. With `typist` this connection may type.
   * Throws `not_found` when no holder lives, or one of a release without attach, `typist_busy` when somebody else types,
   * and `session_unreachable`, as all that follows, when the holder lives and does not answer.
   */
  static async open(
    dataDir: string,
    ref: SessionRef,
    request: Verbs['attach']['request'],
  ): Promise<Attachment> {
    const connections = new HolderConnections(dataDir);
    try {
      const { state, holder } = await attachTo(connections, ref, request);
      const { log } = sessionPaths(dataDir, ref);
      return new Attachment(holder, (from, to) => nextPiece(log, from, to), state);
    } catch (err) {
      connections.closeAll();
      throw err;
    }
  }

  /** As `open`, on a machine that listens. The connection is the caller's to close where this throws. */
  static async openRemote(
    terminal: RemoteTerminal,
    request: Verbs['attach']['request'],
  ): Promise<Attachment> {
    const state = (await terminal.client.request('attach', request)) as AttachedState | undefined;
    if (!state) throw olderRelease(terminal.ref);
    const read = async (from: number, to: number): Promise<Piece> => {
      const piece = await terminal.read(from);
      return piece.missing || piece.to <= to ? piece : { data: piece.data.subarray(0, to - from), from, to };
    };
    return new Attachment(terminal.client, read, state);
  }

  /** What the log has between two offsets; a note stands for what is missing. */
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

  /** Everything from byte `from` on as it comes, until the session's terminal is gone or `close`. */
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

  /** False where nothing runs, or somebody else has taken the keyboard over: then nothing was typed. */
  async type(bytes: Buffer): Promise<boolean> {
    const answer = await this.client
      .request('type', { bytes: bytes.toString('base64') })
      .catch(endOfTerminal);
    return answer?.typed ?? false;
  }

  async resize(size: TerminalSize): Promise<void> {
    await this.client.request('resize', size).catch(endOfTerminal);
  }

  /** Leaves; the session goes on. */
  close(): void {
    this.client.close();
  }
}

/** The holder, attached to, by a connection that stands for one person. Throws as `Attachment.open`. */
export async function attachTo(
  connections: HolderConnections,
  ref: SessionRef,
  request: Verbs['attach']['request'],
): Promise<{ state: AttachedState; holder: HolderPulse }> {
  // Holders before 0.2 answer a verb that they do not know with nothing.
  const state = await connections.ask(ref, 'attach', request);
  const holder = await connections.made(ref);
  if (state && holder) return { state, holder };
  throw connections.holderOf(ref) ? olderRelease(ref) : noTerminal(ref);
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

const olderRelease = ({ agent, session }: SessionRef): HoldfastError =>
  new HoldfastError('not_found', {
    what: 'A terminal to attach to',
    got: `session ${session} of agent ${agent}, which was opened by a release without attach`,
    next: `Let it go on as it is, or close it (\`holdfast close --session ${session}\`) and open it anew.`,
  });
