import type { ToolResult } from '../../../contracts/agents/agent';
import type { ImageRef } from '../../../contracts/tools/images';
import { jsonBytes } from '../../../contracts/payload-size';
import { recordedResult } from '../../../workflows/turn/calls/recorded-result';

const image: ImageRef = {
  ...{ sha256: 'a'.repeat(64), mime: 'image/png', bytes: 1_000, width: 10, height: 20 },
  ...{ at: 'host.local', object: `a/images/${'b'.repeat(64)}` },
};
const result = (content: string, images?: ImageRef[]): ToolResult => ({
  ...{ callId: 'c', tool: 't', content, isError: false, value: { large: 1 } },
  ...(images && { images }),
});

test('a result is recorded with its images and without the value that only other calls need', () => {
  expect(recordedResult(result('text', [image]), 10_000)).toEqual({
    ...{ role: 'tool', callId: 'c', tool: 't', content: 'text', isError: false, images: [image] },
  });
  expect(recordedResult(result('text'), 10_000)).not.toHaveProperty('images');
});

test.each([700, 2_000, 10_000])('text and images together take at most %i bytes', (room) => {
  const images = Array.from({ length: 20 }, () => image);
  for (const count of [0, 1, 5, 20]) {
    const message = recordedResult(result('x'.repeat(20_000), images.slice(0, count)), room);
    expect(jsonBytes(message)).toBeLessThanOrEqual(room);
  }
});
