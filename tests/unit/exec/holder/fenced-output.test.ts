// Output and reports are two streams: what a shell reports comes after the output that was printed before it.
import { FencedOutput } from '../../../../exec/holder/shell/fenced-output';

const FENCE = '\x1b]7717;abc\x07';

function fenced(): { output: FencedOutput; seen: string[] } {
  const seen: string[] = [];
  return { output: new FencedOutput(FENCE, (data) => seen.push(data.toString())), seen };
}

test('a report comes after all output before its fence, wherever the chunks are cut', () => {
  for (let cut = 1; cut < FENCE.length; cut++) {
    const { output, seen } = fenced();
    output.afterFence(() => seen.push('END'));
    output.push(Buffer.from(`last line${FENCE.slice(0, cut)}`));
    expect(seen).toEqual(['last line']);
    output.push(Buffer.from(`${FENCE.slice(cut)}prompt`));
    expect(seen).toEqual(['last line', 'prompt', 'END']);
  }
});

test('a report whose fence has come already is told at once, and once only', () => {
  const { output, seen } = fenced();
  output.push(Buffer.from(FENCE));
  output.afterFence(() => seen.push('END'));
  output.push(Buffer.from(FENCE));
  expect(seen).toEqual(['END']);
});

test('the fence of a command before does not end the next one', () => {
  const { output, seen } = fenced();
  output.push(Buffer.from(FENCE));
  output.beginAgain();
  output.afterFence(() => seen.push('END'));
  expect(seen).toEqual([]);
  output.push(Buffer.from(`x${FENCE}`));
  expect(seen).toEqual(['x', 'END']);
});

test('what looked like the beginning of a fence is output once nothing follows it', () => {
  const { output, seen } = fenced();
  output.push(Buffer.from(`x${FENCE.slice(0, 4)}`));
  output.end();
  expect(seen.join('')).toBe(`x${FENCE.slice(0, 4)}`);
});

describe('when its time is up, a report', () => {
  const LATE_MS = 2_000;
  const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'clearImmediate', 'nextTick'] }));
  afterEach(() => jest.useRealTimers());

  test('still comes after the output that was there by then, as in a holder that was suspended, and once', async () => {
    const { output, seen } = fenced();
    output.afterFence(() => seen.push('END'));
    jest.advanceTimersByTime(LATE_MS);
    output.push(Buffer.from(`last line${FENCE}`));
    expect(seen).toEqual(['last line', 'END']);
    await nextRound();
    expect(seen).toEqual(['last line', 'END']);
  });

  test('is told without its fence, and not in place of the next one', async () => {
    const { output, seen } = fenced();
    output.afterFence(() => seen.push('END'));
    jest.advanceTimersByTime(LATE_MS);
    await nextRound();
    expect(seen).toEqual(['END']);
    output.afterFence(() => seen.push('SECOND'));
    jest.advanceTimersByTime(LATE_MS);
    output.afterFence(() => seen.push('THIRD'));
    await nextRound();
    expect(seen).toEqual(['END']);
  });
});

test('a later report does not replace one that still waits for its output', () => {
  const { output, seen } = fenced();
  output.afterFence(() => seen.push('END'));
  output.afterFence(() => seen.push('SHELL ENDED'));
  expect(seen).toEqual([]);
  output.push(Buffer.from(`last line${FENCE}`));
  expect(seen).toEqual(['last line', 'END', 'SHELL ENDED']);
});

test('a report that waits when the output ends is told, after the last of it and once only', () => {
  const { output, seen } = fenced();
  output.afterFence(() => seen.push('END'));
  output.push(Buffer.from(`x${FENCE.slice(0, 4)}`));
  output.end();
  output.end();
  expect(seen).toEqual(['x', FENCE.slice(0, 4), 'END']);
});
