// Renders a piece of terminal output to the text that a person would see: progress bars in their last state, no escape
// sequences. Uses a real terminal emulator, with a shortcut for plain text. Output is untrusted: whatever it holds,
// rendering is bounded in time, memory and text length.
import { stripVTControlCharacters } from 'node:util';
import { Terminal, type IBuffer, type IMarker } from '@xterm/headless';
import { useCellWidths } from '../../contracts/text/cell-widths';
import { withoutC1 } from '../../contracts/text/control-characters';
import { Tabs, withMovingTabs } from './tabs';

/** Wide enough that the emulator wraps nothing that the session's terminal did not. */
const COLUMNS = 400;
/** The same as the session's terminal: programs address its last row. */
const ROWS = 40;
/** Characters fed to the emulator at a time, before other work gets a turn. */
const PIECE = 4_096;
/** More than the line ends in a piece: lines are removed after each piece. */
const SCROLLBACK = PIECE + ROWS;
/** A page of 128 KiB takes a tenth of it; only crafted output takes longer. */
const BUDGET_MS = 2_000;
const NOTHING = Buffer.alloc(0);
/** Anything but printable text, tabs and line ends: only then is the emulator needed. */
// eslint-disable-next-line no-control-regex -- control characters are the point
const NEEDS_EMULATOR = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\r*\n)/;
/**
 * Sequences with a count that the emulator executes step by step: scroll, insert and delete lines; repeat, tabs,
 * characters (ECMA-48). More steps than the screen is large have no effect, and two billion would take minutes.
 */
const COUNTED = [
  { finals: ['S', 'T', 'L', 'M'], most: ROWS },
  { finals: ['b', 'I', 'Z', '@', 'P', 'X'], most: COLUMNS },
];

/** @param before what is on the line that the data go on with: programs that redraw it count from its beginning */
export async function renderText(data: Buffer, before: Buffer = NOTHING): Promise<string> {
  // Invalid UTF-8 becomes U+FFFD, as does a sequence cut at an edge.
  const text = withoutC1(data.toString('utf8'));
  if (!NEEDS_EMULATOR.test(text)) return text.replace(/\r+\n/g, '\n');
  const screen = new Screen();
  if (before.length > 0) await screen.goOn(withMovingTabs(withoutC1(before.toString('utf8'))));
  const deadline = performance.now() + BUDGET_MS;
  const drawn = withMovingTabs(text);
  for (let at = 0; at < drawn.length; at += PIECE) {
    if (performance.now() > deadline) return withoutSequences(text);
    await screen.write(drawn.slice(at, at + PIECE));
  }
  const lines = screen.end();
  while (lines.at(-1) === '') lines.pop();
  const shown = lines.join('\n') + (text.endsWith('\n') && lines.length > 0 ? '\n' : '');
  // A cursor that jumps around leaves blanks: the last screens of them are enough.
  return shown.slice(-2 * text.length - COLUMNS * ROWS);
}

/** The text alone, in printing order. */
const withoutSequences = (text: string): string =>
  stripVTControlCharacters(text)
    .replace(/\r+\n/g, '\n')
    // eslint-disable-next-line no-control-regex -- control characters are the point
    .replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '');

/**
 * An emulator from which lines are taken as soon as they have scrolled off the screen, when they can no longer change.
 */
class Screen {
  private readonly lines: string[] = [];
  private readonly terminal = new Terminal({
    cols: COLUMNS,
    rows: ROWS,
    scrollback: SCROLLBACK,
    // A program in raw mode ends lines without a carriage return: rendered literally, they would be mostly blanks.
    convertEol: true,
    allowProposedApi: true,
    logLevel: 'off',
  });
  private readonly tabs: Tabs;
  private next: IMarker | undefined;
  /** What the first line has that is not shown, if it is still there at the end: all of it, or up to the cursor. */
  private before: string[] = [];

  constructor() {
    useCellWidths(this.terminal);
    for (const { finals, most } of COUNTED) {
      for (const id of finals.flatMap((final) => [{ final }, { intermediates: ' ', final }]))
        this.terminal.parser.registerCsiHandler(id, ([count]) => Number(count) > most);
    }
    // Asked first, before one that may end a sequence.
    this.tabs = new Tabs(this.terminal);
    this.next = this.terminal.registerMarker(0);
  }

  /** Draws the line that the text goes on with. */
  async goOn(line: string): Promise<void> {
    await new Promise<void>((resolve) => this.terminal.write(line, resolve));
    const { active } = this.terminal.buffer;
    const isOneLine = active.type === 'normal' && active.cursorY === 0;
    const drawn = isOneLine ? active.getLine(0) : undefined;
    if (!drawn) return this.terminal.reset();
    this.before = [this.tabs.textOf(drawn, 0), drawn.translateToString(false, 0, active.cursorX)];
  }

  async write(piece: string): Promise<void> {
    await new Promise<void>((resolve) => this.terminal.write(piece, resolve));
    const { active } = this.terminal.buffer;
    // A full-screen program draws on the alternate screen, and nothing scrolls off it.
    if (active.type === 'alternate') return;
    this.take(active, active.baseY);
    this.next = this.terminal.registerMarker(-active.cursorY);
  }

  end(): string[] {
    const { normal, active } = this.terminal.buffer;
    this.take(normal, normal.length);
    if (active.type === 'alternate') {
      while (this.lines.at(-1) === '') this.lines.pop();
      for (let y = 0; y < active.length; y++) this.add(active, y);
    }
    this.terminal.dispose();
    const [first] = this.lines;
    const before = this.before.find((text) => first?.startsWith(text)) ?? '';
    if (first !== undefined) this.lines[0] = first.slice(before.length);
    return this.lines;
  }

  private take(buffer: IBuffer, to: number): void {
    // If its line is gone, so is the marker: it was scrolled away, or cleared.
    for (let y = Math.max(0, this.next?.line ?? 0); y < to; y++) this.add(buffer, y);
    this.next?.dispose();
    this.tabs.forget(to);
  }

  private add(buffer: IBuffer, y: number): void {
    const line = buffer.getLine(y);
    const content = line ? this.tabs.textOf(line, y) : '';
    if (line?.isWrapped && this.lines.length > 0) this.lines[this.lines.length - 1] += content;
    else this.lines.push(content);
  }
}
