// What is piped into `holdfast exec`: typed into its command whenever that waits for input, then ctrl-d. A command that does
// not read leaves it alone, so a loop over a file goes on.
import { isUtf8 } from 'node:buffer';
import { fstatSync } from 'node:fs';
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { InputRequest } from '../../contracts/schemas/session';
import type { CommandView, YieldSettings } from '../../contracts/sessions/session';

/** A terminal takes 4,096 bytes of a line, and as many before a program reads them. */
const PIECE_BYTES = 3_500;
const MAX_BYTES = 256 * 1024;
/** Programs that start others often give them a pipe that is never written to. */
const FIRST_DATA_MS = 2_000;
const NEWLINE = 0x0a;

/** Of a shell's `|` and `<`, and of a program that writes to us; not a terminal, and not /dev/null. */
export type InputKind = 'file' | 'socket' | null;

export function kindOfInput(): InputKind {
  try {
    const stats = fstatSync(0);
    if (stats.isSocket()) return 'socket';
    return stats.isFIFO() || stats.isFile() ? 'file' : null;
  } catch {
    // It is closed.
    return null;
  }
}

export interface TypingParts {
  session: SessionHandle;
  kind: InputKind;
  settings: Partial<YieldSettings>;
}

/** Types while the command waits for input and there is some; returns its view then. Throws `invalid_input`. */
export async function typeInput(view: CommandView, parts: TypingParts): Promise<CommandView> {
  const { session, kind, settings } = parts;
  if (kind === null || view.state !== 'waiting_input') return view;
  const pieces = new Pieces();
  let seen = view;
  try {
    if (kind === 'socket' && !(await pieces.begins(FIRST_DATA_MS))) return view;
    while (isStill(seen, view)) {
      const piece = await pieces.next();
      seen = await session.input({ ...piece.request, prompt: promptOf(seen), yield: settings });
      if (piece.isLast) break;
    }
  } catch (err) {
    // It would wait for ever for the rest.
    if (isStill(seen, view))
      await session.input({ keys: ['ctrl-c'], prompt: promptOf(seen) }).catch(() => undefined);
    throw err;
  } finally {
    process.stdin.destroy();
  }
  const whole = await session.output();
  return whole.commandId === view.commandId ? whole : seen;
}

const isStill = (seen: CommandView, first: CommandView): boolean =>
  seen.state === 'waiting_input' && seen.commandId === first.commandId;

const promptOf = ({ commandId, waiting }: CommandView): InputRequest['prompt'] =>
  commandId && waiting?.since ? { command: commandId, since: waiting.since } : undefined;

interface Piece {
  request: Pick<InputRequest, 'keyboard' | 'enter' | 'keys'>;
  /** It was the end of the input. */
  isLast: boolean;
}

class Pieces {
  private readonly source = (process.stdin as AsyncIterable<Buffer, undefined>)[Symbol.asyncIterator]();
  private pending = Buffer.alloc(0);
  private first: Promise<IteratorResult<Buffer, undefined>> | undefined;
  private isOver = false;
  private total = 0;

  /** Whether any data comes within that time. */
  async begins(ms: number): Promise<boolean> {
    this.first = this.source.next();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)));
    const result = await Promise.race([this.first, late]).finally(() => clearTimeout(timer));
    return result !== undefined && !result.done;
  }

  /** Whole lines, as many as a terminal takes at once; at the end ctrl-d. */
  async next(): Promise<Piece> {
    while (!this.isOver && this.pending.lastIndexOf(NEWLINE, PIECE_BYTES - 1) < 0) {
      if (this.pending.length >= PIECE_BYTES) throw refused(`a line of more than ${PIECE_BYTES} bytes`);
      await this.more();
    }
    const end = this.pending.lastIndexOf(NEWLINE, PIECE_BYTES - 1) + 1;
    if (end === 0 && this.pending.length > PIECE_BYTES)
      throw refused(`a line of more than ${PIECE_BYTES} bytes`);
    const text = textOf(this.pending.subarray(0, end || this.pending.length));
    this.pending = this.pending.subarray(end || this.pending.length);
    if (text === '') return { request: { keys: ['ctrl-d'] }, isLast: true };
    // Within a line, ctrl-d only hands over what was typed.
    return {
      request: { keyboard: text, enter: false, ...(end === 0 && { keys: ['ctrl-d'] }) },
      isLast: false,
    };
  }

  private async more(): Promise<void> {
    const { value } = await (this.first ?? this.source.next());
    this.first = undefined;
    if (value === undefined) this.isOver = true;
    else this.pending = Buffer.concat([this.pending, value]);
    this.total += value?.length ?? 0;
    if (this.total > MAX_BYTES) throw refused(`more than ${MAX_BYTES} bytes`);
  }
}

/** A terminal would take control characters for keys: ctrl-c ends programs. */
function textOf(data: Buffer): string {
  const text = data.toString('utf8');
  // eslint-disable-next-line no-control-regex
  if (!isUtf8(data) || /[\0-\x08\x0b-\x1f\x7f]/.test(text))
    throw refused('binary data, or control characters');
  return text;
}

const refused = (got: string): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'The standard input of exec',
    got,
    allowed: `lines of text, up to ${MAX_BYTES} bytes, which are typed into the command`,
    next: 'Copy it to the host with `holdfast cp - HOST:FILE`, and give the command the file: `wc -c < FILE`.',
  });
