// Markdown to HTML in bounded time: Marked recurses at each level, and an answer may be hostile. The HTML is not clean.
import { Marked, Tokenizer, type Tokens } from 'marked';

/** A quotation or list in another, or one emphasis in another. What is deeper is text with its signs. */
const MAX_DEPTH = 10;
/** Longer texts would keep the page from answering. */
const MAX_CHARS = 300_000;
/** The time grows with the square of the signs in one word, such as `a_a_a_a`. */
const MAX_SIGNS_OF_WORD = 500;

class ShallowTokenizer extends Tokenizer {
  private depth = 0;

  override blockquote(src: string): Tokens.Blockquote | undefined {
    return this.within(() => super.blockquote(src));
  }

  override list(src: string): Tokens.List | undefined {
    return this.within(() => super.list(src));
  }

  override emStrong(src: string, masked: string, before?: string): Tokens.Em | Tokens.Strong | undefined {
    return this.within(() => super.emStrong(src, masked, before));
  }

  override del(src: string, masked: string, before?: string): Tokens.Del | undefined {
    return this.within(() => super.del(src, masked, before));
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
  if (text.length > MAX_CHARS || text.split(/\s+/).some(isHardWord)) return null;
  return markdown.parse(text, { async: false, gfm: true, tokenizer: new ShallowTokenizer() });
}

const isHardWord = (word: string): boolean =>
  word.length > MAX_SIGNS_OF_WORD && word.replace(/[^*_~]/g, '').length > MAX_SIGNS_OF_WORD;
