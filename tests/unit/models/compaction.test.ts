import { compactionRequest } from '../../../models/compaction';

test('a text to sum up says in words which images it leaves out', () => {
  const image = { sha256: 'a'.repeat(64), mime: 'image/png', bytes: 1_000, width: 10, height: 20 } as const;
  const { messages } = compactionRequest(
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
  expect(messages).toEqual([
    {
      role: 'user',
      text: 'RESULT of view_image:\nThe image.\n[image: png, 10x20, 1 kB; left out of the text to sum up]',
    },
  ]);
});
