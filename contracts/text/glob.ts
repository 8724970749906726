// Patterns of ids, in which `*` stands for any characters. Pure.

/** What a pattern of agent ids may hold. */
export const AGENT_PATTERN = /^[a-z0-9_*-]{1,63}$/;
export const ALL_AGENTS = '*';

/** Takes time in proportion to the text, whatever the pattern. */
export function isMatch(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === text;
  if (!text.startsWith(first)) return false;
  const last = rest.pop() ?? '';
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}
