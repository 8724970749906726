import type { Message } from '../../../contracts/agents/agent';
import { jsonBytes, MAX_TRANSCRIPT_PAGE_BYTES } from '../../../contracts/payload-size';
import { Transcript } from '../../../workflows/turn/transcript';

const user = (text: string): Message => ({ role: 'user', text });

function transcript(...texts: string[]): Transcript {
  const all = new Transcript(() => undefined);
  all.push(...texts.map(user));
  return all;
}

test('counts the bytes of its messages as in a list', () => {
  const all = transcript('a', 'ä"', '😀');
  // The brackets are one more byte than the commas.
  expect(all.bytes).toBe(jsonBytes(all.messages) - 1);
});

test('a page ends by its limit, and without one after a hundred messages', () => {
  const all = transcript(...Array.from({ length: 150 }, (_, n) => `${n}`));
  expect(all.page({ from: 10, limit: 2 })).toEqual({ messages: [user('10'), user('11')], total: 150 });
  expect(all.page(undefined).messages).toHaveLength(100);
  expect(all.page({ from: 100 }).messages).toHaveLength(50);
});

test('a page ends by its bytes, and the next begins where it ended', () => {
  const all = transcript(...Array.from({ length: 10 }, (_, n) => `${n}`.repeat(200_000)));
  const seen: Message[] = [];
  while (seen.length < 10) {
    const { messages } = all.page({ from: seen.length });
    expect(messages.length).toBeGreaterThan(0);
    expect(jsonBytes(messages)).toBeLessThanOrEqual(MAX_TRANSCRIPT_PAGE_BYTES + 2);
    seen.push(...messages);
  }
  expect(seen).toEqual(all.messages);
});

test('a page holds at least one message, however large that is', () => {
  const all = transcript('small', 'x'.repeat(MAX_TRANSCRIPT_PAGE_BYTES), 'small');
  expect(all.page({}).messages).toHaveLength(1);
  expect(all.page({ from: 1 }).messages).toHaveLength(1);
});

test.each([
  [{ from: 3 }],
  [{ from: 1e9 }],
  [{ from: Infinity }],
  [{ from: 2, limit: -1 }],
  [{ from: 'x' }],
  [{ from: 0.5 }],
])('the request %j gives a page and throws nothing', (request) => {
  expect(transcript('a', 'b', 'c').page(request as never)).toMatchObject({ total: 3 });
});
