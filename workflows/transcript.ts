import type { Message, TranscriptPage, TranscriptRequest } from '../contracts/agent';

const DEFAULT_LIMIT = 100;

/** One page of a conversation. Out-of-range values give an empty page: a query must not throw. */
export function transcriptPage(messages: Message[], request: TranscriptRequest | undefined): TranscriptPage {
  const from = Math.max(0, Number(request?.from) || 0);
  const limit = Math.max(1, Number(request?.limit) || DEFAULT_LIMIT);
  return { messages: messages.slice(from, from + limit), total: messages.length };
}
