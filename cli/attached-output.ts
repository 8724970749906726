// A session's output on its way to the terminal of a person who is attached: drawing passes, whatever reads or
// changes that terminal beyond drawing (clipboard, titles, device strings, window reports) does not.
import { StringDecoder } from 'node:string_decoder';

/* eslint-disable no-control-regex -- control characters are the point */
/** A control sequence, a string sequence, any other escape sequence (ECMA-48 5.3 to 5.6). */
const SEQUENCE = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b[P\]X^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-Z\\^-~]/g;
const UNFINISHED = /\x1b(?:\[[0-?]*[ -/]*|[P\]X^_][^\x07\x1b]*\x1b?|[ -/]*)?$/;
const CONTROL = /[\x00-\x06\x10-\x1a\x1c-\x1f\x7f-\x9f]/g;
/** Window operations and reports (XTWINOPS). */
const WINDOW = /t$/;
/** What makes a terminal answer by typing: device status, attributes, modes, version. */
const QUERY = /(?:n|c|x|\$p|>[0-9;]*q)$/;
const MAX_HELD = 4_096;
/** Ends the modes that a program may have set: mouse, pasting, keypad, colours, scroll region, hidden cursor. */
const RESTORE =
  '\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1l\x1b>\x1b[0m\x1b(B\x1b7\x1b[r\x1b8\x1b[?25h';
/** DEC private modes 47, 1047 and 1049: the screen of full-screen programs. */
const ALTERNATE_SCREEN = /^\x1b\[\?(?:47|1047|1049)([hl])$/;

export class AttachedOutput {
  private isAlternate = false;
  private readonly decoder = new StringDecoder('utf8');
  private held = '';

  /** @param answers whether what the terminal answers reaches the program; a watcher's answers would reach nobody */
  constructor(private readonly answers: boolean) {}

  push(chunk: Buffer): string {
    const text = this.held + this.decoder.write(chunk);
    const open = UNFINISHED.exec(text);
    const cut = open && text.length - open.index <= MAX_HELD ? open.index : text.length;
    this.held = text.slice(cut);
    return this.clean(text.slice(0, cut));
  }

  /** What gives the person's terminal back as it was. */
  restore(): string {
    return (this.isAlternate ? '\x1b[?1049l' : '') + RESTORE;
  }

  private clean(text: string): string {
    return (
      text
        .replace(SEQUENCE, (sequence) => (this.passes(sequence) ? sequence : ''))
        .replace(CONTROL, '')
        // An escape that begins no sequence.
        .replace(/\x1b(?![[ -/0-Z\\^-~])/g, '')
    );
  }

  private passes(sequence: string): boolean {
    const kind = sequence[1] ?? '';
    if ('P]X^_'.includes(kind)) return false;
    if (kind !== '[') return true;
    const screen = ALTERNATE_SCREEN.exec(sequence)?.[1];
    if (screen) this.isAlternate = screen === 'h';
    return !WINDOW.test(sequence) && (this.answers || !QUERY.test(sequence));
  }
}
