// What a model thinks aloud is neither call nor answer.

const OPEN = '<think>';
const CLOSE = '</think>';
export const THINK_TAGS = { open: OPEN, close: CLOSE } as const;

/** A text without its thinking; of thinking whose beginning or end is missing, what lies before or behind. */
export function withoutThinking(text: string): string {
  const rest = text.replace(/<think>[\s\S]*?(?:<\/think>|$)/g, '');
  const close = rest.lastIndexOf(CLOSE);
  return (close < 0 ? rest : rest.slice(close + CLOSE.length)).trim();
}
