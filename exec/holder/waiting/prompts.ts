// Remembers the prompts at which a program was answered: where one comes back and the program reads its terminal, it
// waits again, and no caller has to wait to be sure. A REPL polls its terminal, which alone says little.
import type { SeenPrompt } from '../../../contracts/schemas/session';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';

const MAX_LINE_BYTES = 256;
const MAX_PROMPTS = 16;
const NEWLINE = 0x0a;

export class Prompts {
  constructor(private readonly session: number) {}

  /** What stands in front of the cursor: raw bytes, as text. */
  private line = '';
  private lines = 0;
  /** The number of lines when something was typed last. */
  private answeredIn = 0;
  /** The wait in which something was typed last into this command: its `since`. */
  private answeredWait = 0;
  private readonly known = new Set<string>();

  /** For each command: its program has shown nothing yet. */
  clear(): void {
    this.line = '';
    this.answeredWait = 0;
    this.known.clear();
  }

  /** Output, in any pieces. */
  add(data: Buffer): void {
    const end = data.lastIndexOf(NEWLINE);
    for (let at = data.indexOf(NEWLINE); at >= 0; at = data.indexOf(NEWLINE, at + 1)) this.lines += 1;
    if (end >= 0) this.line = '';
    // A longer line is no prompt, and must not become one by being cut.
    if (this.line.length <= MAX_LINE_BYTES) this.line += data.toString('latin1', end + 1);
  }

  /** Something is typed. Only where a program waits does the line in front of it count as a prompt. */
  answered(isWaiting: boolean, wait: number): void {
    this.answeredIn = this.lines;
    this.answeredWait = wait;
    const isPrompt = this.line.trim() !== '' && this.line.length <= MAX_LINE_BYTES;
    if (isWaiting && isPrompt && this.known.size < MAX_PROMPTS) this.known.add(this.pattern);
  }

  /** Throws `prompt_over` if the prompt that somebody has seen is not that of `command`, or was answered. */
  checkOpen(seen: SeenPrompt | undefined, command: string | undefined): void {
    if (seen && (seen.command !== command || Date.parse(seen.since) <= this.answeredWait))
      throw new HoldfastError('prompt_over', { session: this.session });
  }

  /** A known prompt is in front of the cursor, on a later line than what was typed last. */
  get isBack(): boolean {
    return this.lines > this.answeredIn && this.known.has(this.pattern);
  }

  /** Some prompts count: `In [1]: `. */
  private get pattern(): string {
    return this.line.replaceAll(/\d+/g, '0');
  }
}
