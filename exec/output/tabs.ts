// Tabs in rendered output. A terminal only moves its cursor at a tab: which gaps were tabs is kept here, so that a Makefile
// or a table keeps them beside colours.
import type { IBufferLine, IMarker, Terminal } from '@xterm/headless';

/** The stops that programs expect; others that a program sets are ignored, since what is shown are the tabs themselves. */
const STOP = 8;
/** A tab; a string such as a title, whose tabs move nothing (ECMA-48 5.6). */
// eslint-disable-next-line no-control-regex -- control characters are the point
const TAB_OR_STRING = /\t|\x1b[\]PX^_][^\x07\x1b]*/g;
/** Forward to the next stop (CHT): unlike a tab, it can be observed. */
const TO_NEXT_STOP = '\x1b[I';

export const withMovingTabs = (text: string): string =>
  text.replace(TAB_OR_STRING, (found) => (found === '\t' ? TO_NEXT_STOP : found));

/** The tabs of one line: where each began, and where it led. */
interface Line {
  marker: IMarker;
  tabs: Map<number, number>;
}

export class Tabs {
  private lines: Line[] = [];

  constructor(private readonly terminal: Terminal) {
    const { parser } = terminal;
    parser.registerEscHandler({ final: 'H' }, () => true);
    parser.registerCsiHandler({ final: 'g' }, () => true);
    parser.registerCsiHandler({ final: 'I' }, ([count]) => this.moves(Math.max(1, Number(count))));
    parser.registerCsiHandler({ final: 'K' }, ([mode]) => this.erases(Number(mode), false));
    parser.registerCsiHandler({ final: 'J' }, ([mode]) => this.erases(Number(mode), true));
  }

  /** The text of a line, with its tabs where the gaps that they made are still empty. */
  textOf(line: IBufferLine, y: number): string {
    const tabs = this.lines.filter(({ marker }) => marker.line === y).flatMap((kept) => [...kept.tabs]);
    const text = line.translateToString(true);
    if (tabs.length === 0) return text;
    const end = endOf(line);
    let shown = '';
    let at = 0;
    for (const [from, to] of tabs.sort(([a], [b]) => a - b)) {
      if (from < at || (from > end && at < from)) continue;
      if (line.translateToString(false, from, to).trim() !== '') continue;
      shown += `${line.translateToString(false, at, from)}\t`;
      at = Math.max(from, to);
    }
    return at < end ? shown + line.translateToString(false, at, end) : shown;
  }

  /** Forgets the lines before `y`, which have been read. */
  forget(y: number): void {
    const kept = new Map<number, Line>();
    for (const line of this.lines) {
      const same = kept.get(line.marker.line);
      if (!same && line.marker.line >= y) {
        kept.set(line.marker.line, line);
        continue;
      }
      for (const [from, to] of line.tabs) same?.tabs.set(from, to);
      line.marker.dispose();
    }
    this.lines = [...kept.values()];
  }

  private moves(count: number): false {
    const { cols, buffer } = this.terminal;
    const { cursorX, type } = buffer.active;
    // Nothing scrolls off the other screen, and its lines cannot be marked.
    if (type === 'alternate' || count > cols) return false;
    const tabs = this.current()?.tabs;
    if (!tabs) return false;
    let x = cursorX;
    for (let n = 0; n < count; n++) {
      const to = x >= cols ? x : Math.min((Math.floor(x / STOP) + 1) * STOP, cols - 1);
      tabs.set(x, to);
      x = to;
    }
    return false;
  }

  private erases(mode: number, otherLines: boolean): false {
    const { baseY, cursorY, cursorX } = this.terminal.buffer.active;
    const here = baseY + cursorY;
    for (const { marker, tabs } of this.lines) {
      const isBehind = marker.line > here;
      if (marker.line !== here && !(otherLines && (mode >= 2 || isBehind === (mode === 0)))) continue;
      const isWhole = mode >= 2 || marker.line !== here;
      for (const from of tabs.keys())
        if (isWhole || (mode === 0 ? from >= cursorX : from <= cursorX)) tabs.delete(from);
    }
    return false;
  }

  /** The cursor's line. */
  private current(): Line | undefined {
    const { baseY, cursorY } = this.terminal.buffer.active;
    const last = this.lines.at(-1);
    if (last?.marker.line === baseY + cursorY) return last;
    const marker = this.terminal.registerMarker(0);
    if (!marker) return undefined;
    const line = { marker, tabs: new Map<number, number>() };
    this.lines.push(line);
    return line;
  }
}

/** Behind the last cell that is not empty. */
function endOf(line: IBufferLine): number {
  for (let x = line.length - 1; x >= 0; x--) {
    const cell = line.getCell(x);
    if (cell && (cell.getWidth() === 0 || cell.getChars() !== '')) return x + 1;
  }
  return 0;
}
