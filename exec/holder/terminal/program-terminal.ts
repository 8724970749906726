// Answers what a program asks of its terminal (where the cursor is, what it is) while no one is attached whose own terminal
// does: it would wait for ever, or take the next keys for the answer.
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as delay } from 'node:timers/promises';
import { useCellWidths } from '../../../contracts/text/cell-widths';
import { withoutC1 } from '../../../contracts/text/control-characters';
import { logEnd, logStart, readWhole } from '../../output/log-reader';
import type { TerminalSize } from '../../protocol';
import { lineSettings } from '../shell/line-settings';
import { COLUMNS, ROWS } from '../shell/shell';
import { TerminalModes } from './terminal-modes';

/** More than a screen. */
const SCREEN_BYTES = 64 * 1024;
/** Who reads an answer has switched lines or the echo off, perhaps just after the question. */
const LOOKS_MS = [0, 10, 20, 40, 80, 160, 320, 640];

/** The session's side of the terminal. */
export interface ProgramSide {
  /** Path of its device; undefined while nothing runs that could read an answer. */
  tty(): string | undefined;
  type(answer: Buffer): unknown;
}

export class ProgramTerminal {
  /** Null: the default. */
  wantedSize: TerminalSize | null = null;
  /** A person's terminal gets the questions and answers them: a second answer would be taken for keys. */
  isAnswered = false;
  private readonly modes = new TerminalModes();
  /** Offset in the log from which questions are open. */
  private openFrom: number | null = null;
  private isAnswering = false;

  constructor(
    private readonly log: string,
    private readonly program: ProgramSide,
  ) {}

  get size(): TerminalSize {
    return this.wantedSize ?? { cols: COLUMNS, rows: ROWS };
  }

  /** @param from where the text begins in the log, which has it already */
  push(text: Buffer, from: number): void {
    if (!this.modes.push(text) || this.isAnswered) return;
    this.openFrom ??= from;
    if (!this.isAnswering) void this.answerAll();
  }

  /** What undoes the modes that programs have left switched on. */
  takeUndo(): string {
    return this.modes.takeUndo();
  }

  private async answerAll(): Promise<void> {
    this.isAnswering = true;
    try {
      while (this.openFrom !== null && (await this.isRead())) {
        const from = this.openFrom;
        this.openFrom = null;
        const answer = await this.answerTo(from);
        if (!this.isAnswered && answer !== '') this.program.type(Buffer.from(answer, 'latin1'));
      }
    } catch {
      // The log is gone, or its disk: the program waits, as for all else.
    }
    this.openFrom = null;
    this.isAnswering = false;
  }

  /** Whether a program reads keys, not lines. One that has ended, or only shows a file with questions in it, does not. */
  private async isRead(): Promise<boolean> {
    for (const ms of LOOKS_MS) {
      await delay(ms);
      const tty = this.program.tty();
      if (tty === undefined || this.isAnswered) return false;
      const { canonical, echo } = await lineSettings(tty);
      if (!canonical || !echo) return true;
    }
    return false;
  }

  /** The answers to what is asked from `from` on, of the screen as it is then. */
  private async answerTo(from: number): Promise<string> {
    // Loaded on demand: most programs ask nothing.
    const { Terminal } = await import('@xterm/headless');
    const { log, size } = this;
    const terminal = new Terminal({
      ...{ ...size, scrollback: 0, allowProposedApi: true, logLevel: 'off' },
      windowOptions: { getWinSizeChars: true },
    });
    useCellWidths(terminal);
    const decoder = new StringDecoder();
    const write = (data: Buffer): Promise<void> =>
      new Promise((resolve) => terminal.write(withoutC1(decoder.write(data)), resolve));
    let answer = '';
    try {
      await write(readWhole(log, Math.max(logStart(log), from - SCREEN_BYTES), from));
      terminal.onData((data) => (answer += data));
      await write(readWhole(log, from, logEnd(log)));
    } finally {
      terminal.dispose();
    }
    return answer;
  }
}
