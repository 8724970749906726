// A model's thinking aloud is neither a call nor an answer.

const OPEN = '<think>';
const CLOSE = '</think>';
export const THINK_TAGS = { open: OPEN, close: CLOSE } as const;

/** A text without its thinking; thinking without a start or end tag extends to the beginning or end of the text. */
export function withoutThinking(text: string): string {
  const rest = text.replace(/<think>[\s\S]*?(?:<\/think>|$)/g, '');
  const close = rest.lastIndexOf(CLOSE);
  return (close < 0 ? rest : rest.slice(close + CLOSE.length)).trim();
}
