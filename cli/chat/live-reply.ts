// The text that a model is writing: shown only until the reply is recorded. Independent of the terminal.
import type { LiveToken } from '../../contracts/models/live-tokens';
import { plainText, wrapped } from './plain-lines';
import { endOf } from '../../contracts/text/well-formed';

/** Enough for the last lines of a screen. */
const TAIL = 8_000;

export class LiveReply {
  private text = '';
  private isWhole = false;
  /** A reply was recorded while this was written: this one, whose end was not reported yet, or the one before. */
  private isRecorded = false;

  /** True if text already shown is no longer valid. */
  take(token: LiveToken): boolean {
    switch (token.kind) {
      case 'text':
        // The next reply begins before the last one was seen in the transcript.
        if (this.isWhole) this.clear();
        this.text += token.text;
        return false;
      case 'end':
        this.isWhole = true;
        if (this.isRecorded) this.clear();
        return false;
      case 'reset': {
        const wasShown = this.text !== '';
        this.clear();
        return wasShown;
      }
    }
  }

  /** A reply is now shown permanently. */
  recorded(): void {
    if (this.isWhole || this.text === '') this.clear();
    else this.isRecorded = true;
  }

  clear(): void {
    this.text = '';
    this.isWhole = false;
    this.isRecorded = false;
  }

  get isWriting(): boolean {
    return this.text !== '' && !this.isWhole;
  }

  /** The last `rows` lines of it, harmless for a terminal and each at most `columns` wide. */
  lines(columns: number, rows: number): string[] {
    if (this.text === '') return [];
    return wrapped(plainText(endOf(this.text, TAIL)), columns).slice(-rows);
  }
}
