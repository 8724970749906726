import { FrameDecoder, encodeFrame, type AnswerFrame } from '../../../exec/protocol';

const FRAMES: AnswerFrame[] = [
  { id: 1, ok: { text: 'naïve 日本 🎉', nested: [1, null, { a: '\u0000\n"' }] } },
  { id: 2 },
  { id: 3, error: { code: 'busy', facts: { session: 0, from: 17 } } },
];
const stream = Buffer.concat(FRAMES.map(encodeFrame));

const decoded = (...chunks: Buffer[]): AnswerFrame[] => {
  const decoder = new FrameDecoder<AnswerFrame>();
  return chunks.flatMap((chunk) => decoder.push(chunk));
};

test('frames come out as they went in, several in one chunk', () => {
  expect(decoded(stream)).toEqual(FRAMES);
});

test('frames come out whole wherever the stream is split', () => {
  for (let at = 0; at <= stream.length; at++) {
    expect(decoded(stream.subarray(0, at), stream.subarray(at))).toEqual(FRAMES);
  }
});

test('frames come out of a stream of single bytes', () => {
  expect(decoded(...Array.from(stream, (byte) => Buffer.from([byte])))).toEqual(FRAMES);
});

test('a large frame in small chunks costs no more than its length', () => {
  const frame = encodeFrame({ id: 1, ok: 'x'.repeat(15 * 1024 * 1024) });
  const decoder = new FrameDecoder<AnswerFrame>();
  const began = process.cpuUsage();
  let frames = 0;
  for (let at = 0; at < frame.length; at += 1_024)
    frames += decoder.push(frame.subarray(at, at + 1_024)).length;
  expect(frames).toBe(1);
  // Joined at each chunk it takes minutes.
  expect(process.cpuUsage(began).user).toBeLessThan(3_000_000);
});

test('an unfinished frame gives nothing', () => {
  expect(decoded(stream.subarray(0, 3))).toEqual([]);
  expect(decoded(encodeFrame({ id: 1 }).subarray(0, -1))).toEqual([]);
});

test('the length counts bytes, not characters', () => {
  const frame = encodeFrame({ id: 1, ok: '日本' });
  expect(frame.readUInt32BE(0)).toBe(frame.length - 4);
});

test('a frame above 16 MiB is refused before it is collected', () => {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(16 * 1024 * 1024 + 1);
  expect(() => decoded(head)).toThrow('frame of 16777217 bytes, allowed 16777216');
});

test('a frame that is not JSON is refused', () => {
  expect(() => decoded(Buffer.from('\0\0\0\x03abc', 'latin1'))).toThrow(SyntaxError);
});
