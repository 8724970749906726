// What every dialect says alike of replies that cannot be used.
import type { ParsedReply } from '../../contracts/agent';

export const malformed = (problem: string): ParsedReply => ({ kind: 'malformed', problem });

/** Whatever it holds is not all that was meant, an answer included. */
export const cutOff = (): ParsedReply =>
  malformed(
    'It was cut off at the length limit of replies. Write less at once, long content in several steps.',
  );

export const CUT_FENCE = 'It ends within a code fence that holds nothing: it was cut off.';

/** Whether a reply ends where a code fence begins, or within its beginning: what was to follow is missing. */
export function endsInFence(text: string): boolean {
  const isOpen = (text.match(/```/g)?.length ?? 0) % 2 === 1;
  return (isOpen && /```[\w-]*\s*$/.test(text)) || /(?:^|\n)[ \t]*`{1,2}$/.test(text);
}
