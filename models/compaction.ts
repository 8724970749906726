// Has a model sum up a conversation that has become too long for it, or too large to be carried over.
import type { VisibleMessage } from '../contracts/agents/agent';
import { imageLine } from '../contracts/tools/images';
import { fitText, jsonBytes } from '../contracts/payload-size';
import type { ModelRequest } from './provider';

/** Limit for the summary that replaces the conversation. */
export const MAX_SUMMARY_BYTES = 200_000;

const SYSTEM =
  'You sum up a conversation between a user and an assistant that works with tools, so that the assistant can ' +
  'continue with only the summary. Keep, in this order: the task and every instruction of the user, word for word where ' +
  'it matters; what was decided and why; what was done and its results (files, commands, ids, running ' +
  'sessions); what is known to be wrong; what remains to be done. Leave out pleasantries and output that no longer ' +
  'matters. Answer with only the summary; do not call any tool.';

/** A message's beginning and end are enough for a summary. */
const MAX_MESSAGE_CHARS = 8_000;
/** A token has three to four characters; this leaves room for the answer. */
const CHARS_PER_TOKEN = 2;
const DEFAULT_CHARS = 200_000;
/** Less says too little of a conversation. */
const MIN_CHARS = 6_000;

export type SummaryRequest = Pick<ModelRequest, 'system' | 'messages'>;

/** Each has half as much text as the one before: the model's window may be unknown, or smaller than configured. */
export function* compactionRequests(
  messages: readonly VisibleMessage[],
  window: number | undefined,
): Generator<SummaryRequest, void> {
  const text = messages.map(shown).join('\n\n');
  let room = Math.min(window === undefined ? DEFAULT_CHARS : window * CHARS_PER_TOKEN, jsonBytes(text));
  do {
    yield { system: SYSTEM, messages: [{ role: 'user', text: fitText(text, room) }] };
    room /= 2;
  } while (room >= MIN_CHARS);
}

function shown(message: VisibleMessage): string {
  switch (message.role) {
    case 'assistant':
      return `ASSISTANT:\n${clip(saidBy(message))}`;
    case 'tool':
      return `RESULT of ${message.tool}${message.isError ? ' (an error)' : ''}:\n${clip(message.content)}${imagesOf(message)}`;
    case 'summary':
      return `SUMMARY of what came before:\n${message.text}`;
    case 'user':
    case 'context':
    case 'repair':
      return `${message.role.toUpperCase()}:\n${clip(message.text)}`;
  }
}

const imagesOf = ({ images = [] }: Extract<VisibleMessage, { role: 'tool' }>): string =>
  images.map((image) => `\n${imageLine(image, 'left out of the text to sum up')}`).join('');

function saidBy({ text, parsed }: Extract<VisibleMessage, { role: 'assistant' }>): string {
  if (text) return text;
  if (parsed.kind !== 'calls') return parsed.kind === 'answer' ? parsed.answer : '';
  const { prose, calls } = parsed;
  return `${prose}\n${JSON.stringify(calls.map(({ tool, args }) => ({ tool, args })))}`.trim();
}

const clip = (text: string): string => fitText(text, MAX_MESSAGE_CHARS);
