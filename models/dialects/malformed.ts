// What all dialects share about unusable replies.
import type { ParsedReply } from '../../contracts/agents/agent';
import type { RawReply } from '../provider';
import { shown } from './json-text';

export const malformed = (problem: string): ParsedReply => ({ kind: 'malformed', problem });

/** It is incomplete, even if it looks like an answer. */
export const cutOff = ({ cutBy }: Pick<RawReply, 'cutBy'>): ParsedReply =>
  malformed(
    cutBy === undefined
      ? 'It was cut off at the length limit of replies. Write less at once; split long content into several steps.'
      : `It was broken off by the provider, with the reason ${shown(cutBy)}. Write it again, from its beginning.`,
  );

export const CUT_FENCE = 'It ends within a code fence without content: it was cut off.';

/** Whether a reply ends where a code fence begins, or within the fence's mark: the rest is missing. */
export function endsInFence(text: string): boolean {
  const isOpen = (text.match(/```/g)?.length ?? 0) % 2 === 1;
  return (isOpen && /```[\w-]*\s*$/.test(text)) || /(?:^|\n)[ \t]*`{1,2}$/.test(text);
}

/** For a model that meant no call. */
export const AS_TEXT = 'If it is meant as text, write it between backticks.';
