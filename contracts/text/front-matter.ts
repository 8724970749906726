// The front matter of a Markdown file: YAML between two lines of three dashes. Pure.

const BEGIN = /^\ufeff?---[ \t]*\r?\n/;
/** Editors of Windows add a byte order mark, and end lines in another way. It may be empty. */
const WHOLE = /^\ufeff?---[ \t]*\r?\n(?:([^]*?)\r?\n)?---[ \t]*(?:\r?\n|$)([^]*)$/;

/** Throws if it has no end: what it says would be taken for text. */
export function splitFrontMatter(text: string): { matter: string; body: string } {
  const [all, matter = '', body = ''] = WHOLE.exec(text) ?? [];
  if (all !== undefined) return { matter, body };
  if (BEGIN.test(text)) throw new Error('its front matter has no end: a line with `---` is missing');
  return { matter: '', body: text };
}
