// Markdown to HTML in bounded time: Marked recurses at each level, and an answer may be hostile. The HTML is not clean.
import { Marked, Tokenizer, type Tokens } from 'marked';

/** A quotation or list in another, or one emphasis in another. What is deeper is text with its signs. */
const MAX_DEPTH = 10;
/** Longer texts would keep the page from answering. */
const MAX_CHARS = 300_000;
/**
 * How many characters may be read in one text: some of its signs and words are read to the end of their paragraph, each, so
 * that the time grows with its square. It takes some tenths of a second on a slow machine. Ordinary answers use a hundredth.
 */
const MAX_READ = 4e7;
/** As many times longer than a text takes to look for the end of an emphasis. */
const COST_OF_EMPHASIS = 20;
/** As many times faster lines are put together. */
const CHEAPNESS_OF_LINES = 20;

class LimitedTokenizer extends Tokenizer {
  private depth = 0;
  private left = MAX_READ;

  get isTooHard(): boolean {
    return this.left < 0;
  }

  override blockquote(src: string): Tokens.Blockquote | undefined {
    return this.within(() => super.blockquote(src));
  }

  override list(src: string): Tokens.List | undefined {
    if (LIST.test(src)) {
      // All lines of an entry are put together one by one.
      const [block = ''] = src.split(/\n[ \t]*\n/, 1);
      this.spend((block.split('\n').length * block.length) / CHEAPNESS_OF_LINES);
    }
    return this.within(() => super.list(src));
  }

  override emStrong(src: string, masked: string, before?: string): Tokens.Em | Tokens.Strong | undefined {
    return this.emphasis(src, before, () => super.emStrong(src, masked, before));
  }

  override del(src: string, masked: string, before?: string): Tokens.Del | undefined {
    return this.emphasis(src, before, () => super.del(src, masked, before));
  }

  /** Where nothing else begins: at each sign without its other one, and at each letter that may begin an address. */
  override inlineText(src: string): Tokens.Text | undefined {
    this.spend(src.length);
    return super.inlineText(src);
  }

  /** At each line of an entry of a list, which is looked through to its end. */
  override text(src: string): Tokens.Text | undefined {
    this.spend(src.length);
    return super.text(src);
  }

  private emphasis<Token extends Tokens.Generic>(
    src: string,
    before: string | undefined,
    read: () => Token | undefined,
  ): Token | undefined {
    const token = this.within(read);
    // One before a space or in a word, as in `a_b`, is passed over at once.
    if (!token && /^[*_~]+\S/.test(src) && !(src.startsWith('_') && IN_WORD.test(before ?? '')))
      this.spend(COST_OF_EMPHASIS * src.length);
    return token;
  }

  private spend(characters: number): void {
    this.left -= characters;
    if (this.isTooHard) throw new Error('This text is too hard to read.');
  }

  private within<Token>(read: () => Token | undefined): Token | undefined {
    if (this.depth >= MAX_DEPTH) return undefined;
    this.depth += 1;
    try {
      return read();
    } finally {
      this.depth -= 1;
    }
  }
}

const LIST = /^ {0,3}(?:[*+-]|\d{1,9}[.)])/;
const IN_WORD = /[\p{L}\p{N}]$/u;

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** Markup in an answer is shown, not obeyed and not left out; pictures are links, so that nothing is fetched. */
const markdown = new Marked({
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || 'picture')}</a>`,
  },
});

/** Null if the text is too long or too hard to read as Markdown. */
export function htmlOf(text: string): string | null {
  if (text.length > MAX_CHARS) return null;
  const tokenizer = new LimitedTokenizer();
  try {
    return markdown.parse(text, { async: false, gfm: true, tokenizer });
  } catch (err) {
    if (tokenizer.isTooHard) return null;
    throw err;
  }
}
