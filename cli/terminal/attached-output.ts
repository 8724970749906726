// Filters a session's output for the terminal of an attached person: drawing passes. Sequences that read or change the
// terminal beyond drawing (clipboard, titles, device strings, window reports) do not, nor do those that change how keys
// arrive (the detach key must stay what it is).
import { TerminalSequences } from './terminal-sequences';

/* eslint-disable no-control-regex -- control characters are the point */
/** Bell, backspace, vertical tab, form feed, shifts of the character set. */
const CONTROL = /[\x07\x08\x0b\x0c\x0e\x0f]/;
/** Saved cursor, keypad, tab stop, line moves, reset, double size, character sets. */
const ESCAPE = /^\x1b(?:[6-9=>DEHMc]|#[3-68]|[()*+][ -/]?[0-~])$/;
/** Cursor, erasing, inserting, scrolling, colours; also selective erase, cursor shape, soft reset. */
const DRAWING = /^\x1b\[(?:[0-9;:]*[@-MPSTXZ`abdefgmrsu]|4[hl]|\?[0-9;]*[JK]|[0-9]* q|!p)$/;
/** Queries that a terminal answers by typing: device status, attributes, modes, version. */
const QUERY = /^\x1b(?:\[(?:\??[0-9;]*n|[>=]?[0-9;]*c|[0-9;]*x|\??[0-9;]*\$p|>[0-9;]*q)|Z)$/;
const PRIVATE_MODES = /^\x1b\[\?([0-9;]*)([hl])$/;
/** The alternate screen of full-screen programs. */
const ALTERNATE_SCREEN = ['47', '1047', '1049'];
/** DEC private modes that are off by default: cursor keys, mouse, pasting, margins. */
const OFF = '1 5 9 66 69 1000 1002 1003 1005 1006 1015 1016 2004 2026 2027'.split(' ');
const MODES = new Set([...OFF, ...ALTERNATE_SCREEN, '7', '12', '25', '1007', '1048']);
/** Undoes what a program may have set, last of all a hidden cursor. 1004: focus reports, as a precaution. */
const RESTORE =
  [...OFF, '1004'].map((mode) => `\x1b[?${mode}l`).join('') +
  '\x1b[?7h\x1b[4l\x1b>\x1b[0m\x0f\x1b(B\x1b7\x1b[r\x1b8\x1b[0 q\x1b[?25h';
/** Images are strings too. */
const MAX_STRING_LENGTH = 1024 * 1024;

export class AttachedOutput {
  private isAlternate = false;
  private readonly sequences = new TerminalSequences({
    passesControl: (char) => CONTROL.test(char),
    rewrite: (sequence) => this.rewrite(sequence),
    maxStringLength: MAX_STRING_LENGTH,
  });

  /** @param answers whether the terminal's answers reach the program; a watcher's would be lost */
  constructor(private readonly answers: boolean) {}

  push(chunk: Buffer): string {
    return this.sequences.push(chunk);
  }

  /** Restores the person's terminal. */
  restore(): string {
    return (this.isAlternate ? '\x1b[?1049l' : '') + RESTORE;
  }

  private rewrite(sequence: string): string {
    const [, modes, set] = PRIVATE_MODES.exec(sequence) ?? [];
    if (modes !== undefined && set !== undefined) return this.setModes(modes.split(';'), set);
    if (ESCAPE.test(sequence) || DRAWING.test(sequence)) return sequence;
    return this.answers && QUERY.test(sequence) ? sequence : '';
  }

  /** Sets those of several modes in one sequence that pass. */
  private setModes(modes: string[], set: string): string {
    const passing = modes.filter((mode) => MODES.has(mode));
    if (passing.some((mode) => ALTERNATE_SCREEN.includes(mode))) this.isAlternate = set === 'h';
    return passing.length > 0 ? `\x1b[?${passing.join(';')}${set}` : '';
  }
}
