// A conversation for a server that refuses what is in it. Pure.
import type { ChatMessage } from '../../provider';

export const hasCalls = (messages: readonly ChatMessage[]): boolean =>
  messages.some(
    (message) => message.role === 'tool' || (message.role === 'assistant' && message.calls?.length),
  );

/** Without what the provider itself had sent with its replies. */
export const withoutExtras = (messages: readonly ChatMessage[]): ChatMessage[] =>
  messages.map((message) => (message.role === 'assistant' ? { ...message, extras: undefined } : message));

/** With every call and result as text, and never two messages of one side in a row. */
export function callsInWords(messages: readonly ChatMessage[]): ChatMessage[] {
  const joint: ChatMessage[] = [];
  for (const message of withoutExtras(messages).map(inWords)) {
    const last = joint.at(-1);
    if (last?.role !== message.role) joint.push(message);
    else joint[joint.length - 1] = joined(last, message);
  }
  return joint;
}

function inWords(message: ChatMessage): ChatMessage {
  if (message.role === 'user') return message;
  if (message.role === 'assistant') {
    const { text, calls = [] } = message;
    const sentences = calls.map(
      ({ tool, args }) => `(I called the tool ${tool} with the arguments ${args}.)`,
    );
    return { role: 'assistant', text: [text, ...sentences].filter((part) => part.trim() !== '').join('\n') };
  }
  const { tool, isError, text, images } = message;
  const head = isError ? `The call of ${tool} failed:` : `Result of ${tool}:`;
  return { role: 'user', text: `${head}\n${text}`, ...(images && { images }) };
}

function joined(one: ChatMessage, other: ChatMessage): ChatMessage {
  const text = `${one.text}\n\n${other.text}`;
  if (one.role === 'assistant' || other.role === 'assistant') return { role: 'assistant', text };
  const images = [...(one.images ?? []), ...(other.images ?? [])];
  return { role: 'user', text, ...(images.length > 0 && { images }) };
}
