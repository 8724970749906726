// Some servers send a model's thinking in the text itself, between <think> and </think>, before its answer. It is not
// part of the answer.

const OPEN = '<think>';
const CLOSE = '</think>';

/** Passes on the text after the thinking at its beginning; everything, if it does not begin with thinking. */
export class ThinkFilter {
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
    this.held += piece;
    if (this.state === 'start') {
      const text = this.held.trimStart();
      if (text.startsWith(OPEN)) this.state = 'thinking';
      else if (!OPEN.startsWith(text)) this.show(this.held);
    }
    if (this.state === 'thinking') {
      const at = this.held.indexOf(CLOSE);
      if (at >= 0) this.show(this.held.slice(at + CLOSE.length).trimStart());
    }
  }

  /** Text held back because it could turn out to be the tag. */
  end(): void {
    if (this.state === 'start') this.show(this.held);
  }

  private show(text: string): void {
    this.state = 'answer';
    this.held = '';
    if (text) this.onText(text);
  }
}
