// Makes terminal output harmless for the reader's own terminal: line ends, tabs and (where wanted) colours
// stay; titles, clipboard, cursor reports and every other sequence go.
import { TerminalSequences } from './terminal-sequences';

/* eslint-disable no-control-regex -- control characters are the point */
const COLOUR = /^\x1b\[[0-9;:]*m$/;
/** A title that does not end within so much is none. */
const MAX_STRING_LENGTH = 4_096;

export class InertText {
  private readonly sequences: TerminalSequences;
  /** A carriage return that may be the first half of a line end. */
  private held = '';

  constructor(private readonly options: { colours: boolean; carriageReturns: boolean }) {
    this.sequences = new TerminalSequences({
      passesControl: (char) => char === '\b',
      rewrite: (sequence) => (options.colours && COLOUR.test(sequence) ? sequence : ''),
      maxStringLength: MAX_STRING_LENGTH,
    });
  }

  /** The harmless form of a chunk; an unfinished sequence at its end waits for the next. */
  push(chunk: Buffer): string {
    return this.withLineEnds(this.sequences.push(chunk));
  }

  /** What was held back, at the end of the output. */
  end(): string {
    const rest = this.withLineEnds(this.sequences.end()) + this.held;
    this.held = '';
    return rest;
  }

  private withLineEnds(text: string): string {
    if (this.options.carriageReturns) return text;
    const plain = (this.held + text).replace(/\r+/g, '\r').replaceAll('\r\n', '\n');
    this.held = plain.endsWith('\r') ? '\r' : '';
    return this.held ? plain.slice(0, -1) : plain;
  }
}
