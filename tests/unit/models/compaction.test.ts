import { compactionRequests } from '../../../models/compaction';

test('a text to sum up says in words which images it leaves out', () => {
  const image = { sha256: 'a'.repeat(64), mime: 'image/png', bytes: 1_000, width: 10, height: 20 } as const;
  const [request] = compactionRequests(
    [
      {
        role: 'tool',
        callId: 'c',
        tool: 'view_image',
        content: 'The image.',
        isError: false,
        images: [image],
      },
    ],
    undefined,
  );
  expect(request?.messages).toEqual([
    {
      role: 'user',
      text: 'RESULT of view_image:\nThe image.\n[image: png, 10x20, 1 kB; left out of the text to sum up]',
    },
  ]);
});

test.each([
  ['without a window', 100, undefined, [200_000, 100_000, 50_000, 25_000, 12_500, 6_250]],
  ['within a window', 100, 10_000, [20_000, 10_000]],
  ['of a short conversation', 2, 100_000, [14_020, 7_010]],
  ['of a small window', 100, 2_000, [4_000]],
])('%s, each further request has half as much text to sum up', (_name, count, window, rooms) => {
  const messages = Array.from({ length: count }, () => ({ role: 'user', text: 'x'.repeat(7_000) }) as const);
  const lengths = [...compactionRequests(messages, window)].map(
    ({ messages: [one] }) => one?.text.length ?? 0,
  );
  expect(lengths).toHaveLength(rooms.length);
  for (const [index, length] of lengths.entries()) {
    expect(length).toBeLessThanOrEqual(rooms[index] ?? 0);
    expect(length).toBeGreaterThan(0.7 * (rooms[index] ?? 0));
  }
});
