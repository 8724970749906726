// What programs have switched on in the terminal and not off again, found in their output: the next command would draw on
// the other screen, in line drawing characters, or without a cursor. Also whether they ask the terminal something.

/* eslint-disable no-control-regex -- control characters are the point */
/** Control sequences, designations of a character set, and single controls that matter here (ECMA-48, VT220, xterm). */
const SEQUENCES =
  /\x1b(?:\[([?>=!]?)([\d;:]*)([ $]?)([@-~])|([()])(.)|([=>c])|P\$q[^\x1b]*\x1b\\)|[\x0e\x0f]/gs;
/** The beginning of one at the end of a chunk. */
const UNFINISHED = /\x1b(?:\[[?>=!]?[\d;:]{0,64}[ $]?|[()]|P\$q[^\x1b]{0,64}\x1b?|P\$?)?$/;
/* eslint-enable no-control-regex */
const ESC = 0x1b;
const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;
/** Private modes that are on in a new terminal: lines wrap, the cursor is seen. */
const USUALLY_ON: ReadonlySet<string> = new Set(['7', '25']);
/** Those that are off: keypad, reverse video, mouse, focus, other screens, pasting, synchronised output. */
const USUALLY_OFF: ReadonlySet<string> = new Set(
  '1 5 6 9 47 66 1000 1001 1002 1003 1004 1005 1006 1015 1016 1047 1049 2004 2026'.split(' '),
);

export class TerminalModes {
  private readonly modes = new Set<string>();
  private readonly undo = new Map<
    'insert' | 'margins' | 'keypad' | 'cursor' | 'style' | 'g0' | 'g1' | 'shift',
    string
  >();
  private held = '';

  /** Returns whether the text asks the terminal something that it answers by typing. */
  push(data: Buffer): boolean {
    if (this.held === '' && !data.includes(ESC) && !data.includes(SHIFT_OUT) && !data.includes(SHIFT_IN))
      return false;
    const text = this.held + data.toString('latin1');
    let asks = false;
    for (const match of text.matchAll(SEQUENCES)) asks = this.take(match) || asks;
    this.held = UNFINISHED.exec(text)?.[0] ?? '';
    return asks;
  }

  /** What brings a terminal back; empty if nothing was left. From then on nothing is. */
  takeUndo(): string {
    const modes = [...this.modes].map((mode) => `\x1b[?${mode}${USUALLY_ON.has(mode) ? 'h' : 'l'}`);
    const undo = [...modes, ...this.undo.values()].join('');
    this.clear();
    return undo;
  }

  private clear(): void {
    this.modes.clear();
    this.undo.clear();
    this.held = '';
  }

  private take(match: RegExpMatchArray): boolean {
    const [all, prefix = '', numbers = '', between = '', final, set, charset, single] = match;
    if (set !== undefined) this.left(set === '(' ? 'g0' : 'g1', charset !== 'B', `\x1b${set}B`);
    else if (all === '\x0e' || all === '\x0f') this.left('shift', all === '\x0e', '\x0f');
    else if (single === 'c') this.clear();
    else if (single !== undefined) this.left('keypad', single === '=', '\x1b>');
    else if (final === undefined) return true;
    else return this.control(prefix, numbers, between + final);
    return false;
  }

  private control(prefix: string, numbers: string, final: string): boolean {
    const on = final === 'h';
    if (prefix === '?' && (on || final === 'l')) {
      for (const mode of numbers.split(';')) {
        if (USUALLY_OFF.has(mode) ? on : USUALLY_ON.has(mode) && !on) this.modes.add(mode);
        else this.modes.delete(mode);
      }
    } else if (prefix === '' && final === 'm') this.left('style', !/^0*$/.test(numbers), '\x1b[m');
    // Margins that end move the cursor, which is put back.
    else if (prefix === '' && final === 'r') this.left('margins', numbers !== '', '\x1b7\x1b[r\x1b8');
    else if (prefix === '' && numbers === '4' && /[hl]/.test(final)) this.left('insert', on, '\x1b[4l');
    else if (final === ' q') this.left('cursor', !/^0*$/.test(numbers), '\x1b[0 q');
    else if (prefix === '!' && final === 'p') this.clear();
    return isQuestion(prefix, numbers, final);
  }

  private left(what: Parameters<typeof this.undo.set>[0], isLeft: boolean, undo: string): void {
    if (isLeft) this.undo.set(what, undo);
    else this.undo.delete(what);
  }
}

/** Attributes, status and place of the cursor, a mode, the name, the size. */
function isQuestion(prefix: string, numbers: string, final: string): boolean {
  if (final === 'c') return prefix !== '?' && prefix !== '!' && /^0*$/.test(numbers);
  if (final === 'n') return /^\??[56]$/.test(prefix + numbers);
  if (final === '$p') return prefix === '' || prefix === '?';
  if (final === 'q') return prefix === '>';
  return final === 't' && prefix === '' && numbers === '18';
}
