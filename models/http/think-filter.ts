// Some servers send a model's thinking in the text itself, between <think> and </think>, before its answer. It is not
// part of the answer.

const OPEN = '<think>';
const CLOSE = '</think>';

/** Passes on the text after the thinking at its beginning; everything, if it does not begin with thinking. */
export class ThinkFilter {
  /** White space at the beginning, which is part of the text only if no thinking follows. */
  private blank = '';
  private held = '';
  private state: 'start' | 'thinking' | 'answer' = 'start';

  constructor(private readonly onText: (piece: string) => void) {}

  static visible(text: string): string {
    let shown = '';
    const filter = new ThinkFilter((piece) => (shown += piece));
    filter.push(text);
    filter.end();
    return shown;
  }

  push(piece: string): void {
    if (this.state === 'answer') return this.onText(piece);
    // What is held stays short, so that long thinking costs no more than its length.
    this.held += piece;
    if (this.state === 'start') {
      const text = this.held.trimStart();
      this.blank += this.held.slice(0, this.held.length - text.length);
      this.held = text;
      if (text.startsWith(OPEN)) this.state = 'thinking';
      else if (!OPEN.startsWith(text)) this.show(this.blank + text);
    }
    if (this.state === 'thinking') {
      const at = this.held.indexOf(CLOSE);
      if (at >= 0) this.show(this.held.slice(at + CLOSE.length).trimStart());
      else this.held = this.held.slice(1 - CLOSE.length);
    }
  }

  /** Text held back because it could turn out to be the tag. */
  end(): void {
    if (this.state === 'start') this.show(this.blank + this.held);
  }

  private show(text: string): void {
    this.state = 'answer';
    this.held = '';
    if (text) this.onText(text);
  }
}
