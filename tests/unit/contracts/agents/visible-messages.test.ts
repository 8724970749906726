import type { Message } from '../../../../contracts/agents/agent';
import { carriedMessages, visibleMessages } from '../../../../contracts/agents/visible-messages';

const user = (text: string): Message => ({ role: 'user', text });

test('what a conversation carries over is visible in full in its next run, although a summary covered what is no longer there', () => {
  const context: Message = { role: 'context', text: 'files' };
  const covered = Array.from({ length: 20 }, (_, n) => user(`old ${n}`));
  const summary: Message = { role: 'summary', text: 'what came before', covers: 21 };
  const seen = visibleMessages([context, ...covered, summary, user('a'), user('b')]);
  const next = carriedMessages([context, ...covered, summary, user('a'), user('b')]);
  const texts = (messages: Message[]): unknown[] =>
    messages.map((message) => 'text' in message && message.text);
  expect(texts(visibleMessages(next))).toEqual(texts(seen));
  expect(texts(visibleMessages([...next, user('c')]))).toEqual([...texts(seen), 'c']);
});
