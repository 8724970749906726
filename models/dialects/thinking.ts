// A model's thinking aloud is neither a call nor an answer.

const OPEN = '<think>';
const CLOSE = '</think>';
export const THINK_TAGS = { open: OPEN, close: CLOSE } as const;

/** The position after the end of the thinking that is under way at `at`; without an end it is all of the rest. */
export function behindThinking(text: string, at: number): number {
  const end = text.indexOf(CLOSE, at);
  return end < 0 ? text.length : end + CLOSE.length;
}

const BEGIN = /\s*<think>/y;
/** Some servers put `<think>` into the prompt, so that the reply has its end only. In a sentence it is a word. */
const END_BESIDE_LINE = /^[ \t]*<\/think>|<\/think>[ \t]*$/m;
const CODE = /```[\s\S]*?```|`[^`\n]*`/g;

/**
 * A text without the thinking at its beginning; without an end tag that is all of it. Elsewhere tags are text: an answer
 * may be about them.
 */
export function withoutThinking(text: string): string {
  let at = 0;
  for (BEGIN.lastIndex = 0; BEGIN.test(text); BEGIN.lastIndex = at)
    at = behindThinking(text, BEGIN.lastIndex);
  if (at > 0) return text.slice(at).trim();
  const prose = text.replace(CODE, (code) => ' '.repeat(code.length));
  const end = END_BESIDE_LINE.exec(prose);
  if (!end || prose.slice(0, end.index).includes(OPEN)) return text.trim();
  return text.slice(end.index + end[0].length).trim();
}
