// A conversation in steps: each reply of the model with the results of its calls, in order. Every call has a result
// here, so that no provider is sent a call without one.
import type { ParsedReply, ToolResult, VisibleMessage } from '../../contracts/agents/agent';
import type { ChatMessage } from '../provider';

type Reply = Extract<VisibleMessage, { role: 'assistant' }>;

/** A result as it is sent back; `note` says what was repaired in the call before it ran. */
export interface ShownResult extends ToolResult {
  note?: string;
}

export type Step =
  { kind: 'said'; text: string } | { kind: 'step'; message: Reply | null; results: ShownResult[] };

const NO_RESULT =
  'Error unknown_outcome: the turn ended before this call did, so its result is not known. It may have had an effect.';

/** Results whose reply was replaced by a summary form a step without a message. */
export function steps(messages: readonly VisibleMessage[]): Step[] {
  const replies = messages.flatMap((message, at) => (message.role === 'assistant' ? [at] : []));
  const before = messages.slice(0, replies[0] ?? messages.length);
  return [
    ...before.map(alone),
    ...replies.flatMap((at, index) => {
      const behind = messages.slice(at + 1, replies[index + 1] ?? messages.length);
      return stepOf(messages[at] as Reply, behind);
    }),
  ];
}

const alone = (message: VisibleMessage): Step =>
  message.role === 'tool'
    ? { kind: 'step', message: null, results: [message] }
    : { kind: 'said', text: message.text ?? '' };

/** A reply, directly followed by its results, then what else was said before the next reply. */
function stepOf(message: Reply, behind: readonly VisibleMessage[]): Step[] {
  const results = resultsOf(
    message,
    behind.filter((other) => other.role === 'tool'),
  );
  const ids = results.map(({ callId }) => callId);
  const others = behind.filter((other) => other.role !== 'tool' || !ids.includes(other.callId));
  return [{ kind: 'step', message, results }, ...others.map(alone)];
}

function resultsOf({ parsed }: Reply, results: readonly ToolResult[]): ShownResult[] {
  if (parsed.kind !== 'calls') return [];
  return parsed.calls.map(({ callId, tool, repaired }) => {
    const result = results.find((candidate) => candidate.callId === callId);
    const shown = result ?? { callId, tool, content: NO_RESULT, isError: true };
    return { ...shown, ...(repaired !== undefined && { note: repaired }) };
  });
}

/** Providers refuse messages without text. */
export const saidText = (text: string): string => (text.trim() === '' ? '(a reply without text)' : text);

/** What the provider sent with a reply, as it goes back. */
export const extrasOf = ({ extras }: Reply): Pick<Extract<ChatMessage, { role: 'assistant' }>, 'extras'> =>
  extras ? { extras: extras.data } : {};

type Calls = Extract<ParsedReply, { kind: 'calls' }>;

/** A reply as its model wrote it; if only its parsed form was recorded, in the words of the dialect. */
export function writtenText({ text = '', parsed }: Reply, inWords: (calls: Calls) => string): string {
  if (text.trim() !== '') return text;
  if (parsed.kind !== 'calls') return saidText(parsed.kind === 'answer' ? parsed.answer : '');
  return parsed.prose === '' ? inWords(parsed) : `${parsed.prose}\n\n${inWords(parsed)}`;
}
