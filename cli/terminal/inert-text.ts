// Makes text from sessions and models harmless for the reader's terminal: line ends, tabs and (if wanted) colours stay;
// titles, clipboard, cursor reports and every other sequence are removed.
import { inOrder } from '../../contracts/text/inert';
import { TerminalSequences } from './terminal-sequences';
import { wantsColour } from './terminal-style';

/* eslint-disable no-control-regex -- control characters are the point */
const COLOUR = /^\x1b\[[0-9;:]*m$/;
/** A title that does not end within this length is not one. */
const MAX_STRING_LENGTH = 4_096;

interface InertOptions {
  colours: boolean;
  /** Backspaces, too: as in a terminal, later text may overwrite earlier text in its line. */
  carriageReturns: boolean;
  /** Characters that reorder text are written out; else they stay, for programs. */
  inOrder: boolean;
}

export class InertText {
  private readonly sequences: TerminalSequences;
  /** A carriage return that may be the first half of a line end. */
  private held = '';

  constructor(private readonly options: InertOptions) {
    this.sequences = new TerminalSequences({
      passesControl: (char) => char === '\b',
      rewrite: (sequence) => (options.colours && COLOUR.test(sequence) ? sequence : ''),
      maxStringLength: MAX_STRING_LENGTH,
    });
  }

  /** The harmless form of a chunk; an unfinished sequence at its end waits for the next. */
  push(chunk: Buffer): string {
    return this.shown(this.sequences.push(chunk));
  }

  /** The text held back, at the end of the output. */
  end(): string {
    const rest = this.shown(this.sequences.end()) + this.held;
    this.held = '';
    return rest;
  }

  private shown(text: string): string {
    return this.withLineEnds(this.options.inOrder ? inOrder(text) : text);
  }

  private withLineEnds(text: string): string {
    if (this.options.carriageReturns) return text;
    const plain = (this.held + text).replace(/\r+/g, '\r').replaceAll('\r\n', '\n');
    this.held = plain.endsWith('\r') ? '\r' : '';
    return this.held ? plain.slice(0, -1) : plain;
  }
}

/** For the output of sessions. Colours only in a terminal that wants them. */
export const inertFor = (stream: NodeJS.WriteStream): InertText =>
  new InertText({
    colours: wantsColour(stream),
    carriageReturns: Boolean(stream.isTTY),
    inOrder: Boolean(stream.isTTY),
  });

const whole = (filter: InertText, text: string): string => filter.push(Buffer.from(text)) + filter.end();

/** For a session's complete output. */
export const sessionText = (text: string): string => whole(inertFor(process.stdout), text);

/** For text from models and tools: no colours, and nothing overwrites earlier text. */
export const inert = (text: string): string =>
  whole(
    new InertText({ colours: false, carriageReturns: false, inOrder: Boolean(process.stdout.isTTY) }),
    text,
  )
    .replaceAll('\r', '\n')
    .replaceAll('\b', '');
