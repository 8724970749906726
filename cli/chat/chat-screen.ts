// The terminal of a chat: the conversation scrolls up; below it, continuously redrawn, the current status and the line
// being typed. Node's line editor draws these as its prompt, and so knows how many rows they take.
import { createInterface, type Interface, type Key } from 'node:readline';
import { draw, harmless, writingBy } from '../terminal/guarded-output';
import { columnsOf, styled, wantsColour } from '../terminal/terminal-style';
import { cut, plainText } from './plain-lines';
import { counted } from '../../contracts/text/counted';

/** A paste arrives between two markers (xterm, bracketed paste mode), so that its line ends send nothing. */
const PASTE_ON = '\x1b[?2004h';
const PASTE_OFF = '\x1b[?2004l';
const PROMPT = '> ';
const CONTINUED = '… ';
/** For a message of many lines. */
const SHOWN_TYPED = 6;

/** Parts of Node's line editor that its types leave out. */
interface Editor extends Interface {
  line: string;
  cursor: number;
  /** Rows between the first of the prompt and the cursor. */
  prevRows: number;
}

export interface ScreenEvents {
  onMessage(text: string): void;
  /** Ctrl-C, with whether anything is typed. */
  onInterrupt(hasText: boolean): void;
  /** Ctrl-D on an empty line, or a terminal that is gone. */
  onEnd(): void;
  complete(line: string): string[];
  /** The current status, one item per row. */
  now(): string[];
}

export class ChatScreen {
  private editor: Editor | null = null;
  private isPasting = false;
  /** The rows of the line being sent. */
  private rowsOfLine = 1;
  /** Lines of the message being typed, above the last one. */
  private typed: string[] = [];
  /** The status as last drawn. */
  private block: string[] = [];
  /** Printed while the terminal is lent out. */
  private readonly held: (() => void)[] = [];
  /** The text in the line when the terminal was handed over. */
  private kept = '';

  constructor(
    private readonly events: ScreenEvents,
    private readonly history: () => string[],
  ) {}

  open(): void {
    const editor = createInterface({
      input: process.stdin,
      output: writingBy(process.stdout, (text) => draw(text)),
      prompt: PROMPT,
      history: this.history(),
      historySize: 500,
      removeHistoryDuplicates: true,
      completer: (line: string): [string[], string] => [this.events.complete(line), line],
    }) as Editor;
    this.editor = editor;
    process.stdin.prependListener('keypress', this.onKey);
    process.stdout.prependListener('resize', this.onResize);
    editor.on('line', (line) => this.onLine(line));
    editor.on('SIGINT', () => this.events.onInterrupt(editor.line !== '' || this.typed.length > 0));
    // Ctrl-Z would stop us and leave the terminal unattended.
    editor.on('SIGTSTP', () => undefined);
    editor.on('close', () => {
      if (this.editor !== editor) return;
      this.close();
      this.events.onEnd();
    });
    draw(PASTE_ON);
    for (const write of this.held.splice(0)) write();
    editor.write(this.kept);
    this.draw();
  }

  /** Gives the terminal back; output is held back until `open`. */
  close(): void {
    const { editor } = this;
    if (!editor) return;
    this.erase(editor);
    this.kept = editor.line;
    this.editor = null;
    process.stdin.off('keypress', this.onKey);
    process.stdout.off('resize', this.onResize);
    editor.close();
    draw(PASTE_OFF);
  }

  /** Prints permanently, above the status. */
  print(write: () => void): void {
    if (!this.editor) {
      this.held.push(write);
      return;
    }
    this.erase(this.editor);
    write();
    this.draw();
  }

  /** Redraws the status, if it has changed. */
  refresh(): void {
    const lines = this.now();
    if (lines.length === this.block.length && lines.every((line, index) => line === this.block[index]))
      return;
    this.draw();
  }

  forget(): void {
    this.typed = [];
    // The editor's own way to empty a line.
    this.editor?.write(null, { ctrl: true, name: 'e' });
    this.editor?.write(null, { ctrl: true, name: 'u' });
    this.draw();
  }

  /** The editor draws them as they are. */
  private now(): string[] {
    return this.events.now().map((line) => harmless(line, wantsColour(process.stdout)));
  }

  private erase(editor: Editor): void {
    const up = editor.prevRows > 0 ? `\x1b[${editor.prevRows}A` : '';
    draw(`${up}\r\x1b[J`);
    editor.prevRows = 0;
  }

  private draw(): void {
    if (!this.editor) return;
    // Recomputed even if only something above is printed: recorded text must not appear here too.
    this.block = this.now();
    const columns = columnsOf(process.stdout) - 1;
    const hidden = this.typed.length - SHOWN_TYPED;
    const typed = this.typed
      .slice(-SHOWN_TYPED)
      .map((line, index) => `${index === 0 ? PROMPT : CONTINUED}${cut(plainText(line), columns - 2)}`);
    const more = hidden > 0 ? [styled('dim', `${counted(hidden, 'line')} above`)] : [];
    const last = this.typed.length > 0 ? CONTINUED : PROMPT;
    this.editor.setPrompt([...this.block, ...more, ...typed, last].join('\n'));
    this.editor.prompt(true);
  }

  /** Before the editor sees the key. */
  private readonly onKey = (_text: string | undefined, key: Key | undefined): void => {
    const { editor } = this;
    if (!editor) return;
    if (key?.name === 'paste-start') this.isPasting = true;
    if (key?.name === 'paste-end') this.isPasting = false;
    if (key?.name !== 'return' && key?.name !== 'enter') return;
    // A sent message is shown once the conversation has it: the line itself leaves the screen.
    editor.setPrompt(PROMPT);
    editor.cursor = editor.line.length;
    editor.prompt(true);
    this.rowsOfLine = editor.prevRows + 1;
  };

  /** Another width changes the rows. */
  private readonly onResize = (): void => {
    if (this.editor) this.editor.prevRows = this.editor.getCursorPos().rows;
  };

  private onLine(line: string): void {
    draw(`\x1b[${this.rowsOfLine}A\r\x1b[J`);
    const isContinued = this.isPasting || line.endsWith('\\');
    this.typed.push(isContinued && !this.isPasting ? line.slice(0, -1) : line);
    if (isContinued) {
      this.draw();
      return;
    }
    const text = this.typed.join('\n').replace(/\n+$/, '');
    this.typed = [];
    this.draw();
    if (text.trim() !== '') this.events.onMessage(text);
  }
}
