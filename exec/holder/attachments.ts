// People at the session's terminal: any number watch, one types. Typed input goes to the terminal and nowhere else;
// output is read from the log.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { AttachedState, TerminalSize, Verbs } from '../protocol';
import { RememberedKeys } from './remembered-inputs';
import type { Session } from './session';

/** Without a window the size is reported as 0; no real window is larger than this. */
const MAX_CELLS = 9_999;

interface Typist {
  who: string;
  /** Aborts when the connection, which represents the person, is gone. */
  connection: AbortSignal;
}

export class Attachments {
  private typist: Typist | null = null;
  private readonly keys = new RememberedKeys();

  constructor(
    private readonly session: Session,
    private readonly number: number,
  ) {}

  /** Throws `typist_busy` if another person types and `take` is not set. An impossible size counts as none. */
  attach({ typist, size }: Verbs['attach']['request'], connection: AbortSignal): AttachedState {
    if (typist) {
      if (this.typist && this.typist.connection !== connection && !typist.take)
        throw new HoldfastError('typist_busy', { session: this.number, who: this.typist.who });
      this.typist = { who: typist.who, connection };
      this.session.terminal.isAnswered = typist.answers === true;
      connection.addEventListener('abort', () => this.leave(connection), { once: true });
      if (size && isUsable(size)) this.session.resize(size);
      this.session.changes.notify();
    }
    this.session.restoreLog();
    return this.state();
  }

  /** Answers when there is output beyond `from`, or the state differs from `seen`. */
  watch({ from, seen }: Verbs['watch']['request'], cancelled: AbortSignal): Promise<AttachedState> {
    // Throws for what is no state, before anything listens.
    const known = describe(seen);
    return new Promise((resolve) => {
      const isNews = (state: AttachedState): boolean => state.end > from || describe(state) !== known;
      const forget = this.session.changes.onChange(() => {
        const state = this.state();
        if (!isNews(state)) return;
        stop();
        resolve(state);
      });
      const stop = (): void => {
        forget();
        cancelled.removeEventListener('abort', stop);
      };
      cancelled.addEventListener('abort', stop, { once: true });
      // What has arrived since the caller's last look.
      const state = this.state();
      if (!isNews(state)) return;
      stop();
      resolve(state);
    });
  }

  /**
   * False if nothing was typed: nothing runs that could read it, or not `command`, or too much waits to be read, or another
   * person types now. Throws `id_conflict` for the id of other bytes.
   */
  type({ bytes, id, command }: Verbs['type']['request'], connection: AbortSignal): { typed: boolean } {
    if (id !== undefined && this.keys.wasTyped(id, bytes)) return { typed: true };
    const isMine = this.typist?.connection === connection;
    const isMeant = command === undefined || this.session.place.command?.id === command;
    const typed = isMine && isMeant && this.session.typeRaw(Buffer.from(bytes, 'base64'));
    if (typed && id !== undefined) this.keys.add(id, bytes);
    return { typed };
  }

  /** An impossible size changes nothing. */
  resize(size: Verbs['resize']['request'], connection: AbortSignal): Record<string, never> {
    if (this.typist?.connection === connection && isUsable(size)) this.session.resize(size);
    return {};
  }

  private leave(connection: AbortSignal): void {
    if (this.typist?.connection !== connection) return;
    this.typist = null;
    this.session.terminal.isAnswered = false;
    // While no client is attached, programs get the default size back, which views are rendered for.
    this.session.resize(null);
    this.session.changes.notify();
  }

  private state(): AttachedState {
    const { command, epoch, end } = this.session.place;
    const running = command !== null && command.endedAt === null ? command.id : null;
    return { end, epoch, running, typist: this.typist?.who ?? null, size: this.session.terminal.size };
  }
}

const describe = ({ epoch, running, typist, size }: Omit<AttachedState, 'end'>): string =>
  JSON.stringify([epoch, running, typist, size satisfies TerminalSize]);

const isUsable = ({ cols, rows }: TerminalSize): boolean =>
  [cols, rows].every((cells) => Number.isInteger(cells) && cells >= 1 && cells <= MAX_CELLS);
