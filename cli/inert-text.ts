// Makes terminal output harmless for the reader's own terminal: line ends, tabs and (where wanted) colours
// stay; titles, clipboard, cursor reports and every other sequence go (ECMA-48 forms).
import { StringDecoder } from 'node:string_decoder';

/* eslint-disable no-control-regex -- control characters are the point */
const SEQUENCE = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b[P\]X^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-Z\\^-~]/g;
const UNFINISHED = /\x1b(?:\[[0-?]*[ -/]*|[P\]X^_][^\x07\x1b]*\x1b?|[ -/]*)?$/;
const COLOUR = /^\x1b\[[0-9;:]*m$/;
const CONTROL = /[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]/g;
/** A sequence that does not end within so much is none. */
const MAX_HELD = 4_096;

export class InertText {
  private readonly decoder = new StringDecoder('utf8');
  private held = '';

  constructor(private readonly options: { colours: boolean; carriageReturns: boolean }) {}

  /** The harmless form of a chunk; an unfinished sequence at its end waits for the next. */
  push(chunk: Buffer): string {
    return this.clean(this.held + this.decoder.write(chunk));
  }

  /** What was held back, at the end of the output. */
  end(): string {
    const rest = this.held + this.decoder.end();
    this.held = '';
    return this.plain(rest.replace(UNFINISHED, ''));
  }

  private clean(text: string): string {
    const open = UNFINISHED.exec(text);
    const cut = open && text.length - open.index <= MAX_HELD ? open.index : text.length;
    // A carriage return may be the first half of a line end.
    const end = cut === text.length && text.endsWith('\r') ? cut - 1 : cut;
    this.held = text.slice(end);
    return this.plain(text.slice(0, end));
  }

  private plain(text: string): string {
    const { colours, carriageReturns } = this.options;
    const kept = text.replace(SEQUENCE, (sequence) => (colours && COLOUR.test(sequence) ? sequence : ''));
    const safe = kept.replace(CONTROL, '').replace(/\x1b(?!\[[0-9;:]*m)/g, '');
    return carriageReturns ? safe : safe.replace(/\r+\n/g, '\n');
  }
}
