// S11, S12: omitted parts of long output are counted and can be read; no bytes break a view.
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nextPiece, readLog, shownPiece } from '../../../exec/output/log-reader';
import { lostParts, recordLoss } from '../../../exec/output/lost-parts';
import { boundedView, keptTexts, page } from '../../../exec/output/view';

let folder: string;
let log: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-view-'));
  log = join(folder, 'log');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Noise, a good part of it escapes, digits and pieces of characters. */
const randomBytesOf = (random: () => number, length: number): Buffer =>
  Buffer.from(
    Array.from({ length }, () => {
      const likely = [0x1b, 0x5b, 0x3b, 0x39, 0x6d, 0x48, 0x0d, 0x0a, 0x9b, 0xe6, 0x97, 0xf0];
      return random() < 0.3
        ? (likely[Math.floor(random() * likely.length)] ?? 0)
        : Math.floor(random() * 256);
    }),
  );

const write = (text: string): number => {
  writeFileSync(log, text);
  return Buffer.byteLength(text);
};

describe('the bounded view', () => {
  test('shows short output whole', async () => {
    const to = write('one\ntwo\n');
    expect(await boundedView(log, 0, to)).toEqual({ output: 'one\ntwo\n', from: 0, to, omittedBytes: 0 });
  });

  test('shows only what is between its offsets', async () => {
    write('one\ntwo\nthree\n');
    expect(await boundedView(log, 4, 8)).toEqual({ output: 'two\n', from: 4, to: 8, omittedBytes: 0 });
  });

  test('shows output of exactly the limit whole, and of one byte more with an omission', async () => {
    const limit = 16 * 1024;
    write('x'.repeat(limit + 1));
    expect((await boundedView(log, 0, limit)).output).toHaveLength(limit);
    expect((await boundedView(log, 0, limit + 1)).output).toContain('bytes / 0 lines omitted');
  });

  test.each([0, 1_234])(
    'keeps head and tail of long output, and the note leads to the rest (from %i)',
    async (from) => {
      const to = write(Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`).join(''));
      const view = await boundedView(log, from, to);
      const [, head, omitted, lines, offset, tail] =
        /^([^]*)\n\[(\d+) bytes \/ (\d+) lines omitted, read from offset (\d+)\]\n([^]*)$/.exec(
          view.output,
        ) ?? [];
      expect(view).toMatchObject({ from, to, omittedBytes: Number(omitted) });
      expect(Buffer.byteLength(view.output)).toBeLessThan(17 * 1024);
      const between = await page(log, Number(offset), Number(offset) + Number(omitted));
      expect(`${head}${between.output}${tail}`).toBe((await page(log, from, to)).output);
      expect(between.output.split('\n')).toHaveLength(Number(lines) + 1);
      expect(head?.endsWith('\n')).toBe(true);
      expect(tail).toMatch(/^line \d+\n/);
    },
  );

  test('cuts one endless line without splitting a character', async () => {
    const to = write('日'.repeat(20_000));
    const view = await boundedView(log, 0, to);
    const [, head, omitted, , , tail] =
      /^(.*)\n\[(\d+) bytes \/ (\d+) lines omitted, read from offset (\d+)\]\n(.*)$/.exec(view.output) ?? [];
    expect(`${head}${tail}`).toMatch(/^日+$/);
    expect(Buffer.byteLength(`${head}${tail}`) + Number(omitted)).toBe(to);
  });

  test('counts no lines where that would read many megabytes for one look', async () => {
    const to = write('');
    truncateSync(log, 4 * 1024 ** 3);
    const began = Date.now();
    const view = await boundedView(log, to, 4 * 1024 ** 3);
    expect(view.output).toMatch(/\[\d+ bytes omitted, read from offset 4096\]/);
    expect(Date.now() - began).toBeLessThan(3_000);
  });

  test('of bytes of any kind, cut anywhere, never throws and says where it continues', async () => {
    const random = randomOf(1);
    writeFileSync(log, randomBytesOf(random, 60_000));
    for (let n = 0; n < 40; n++) {
      const from = Math.floor(random() * 30_000);
      const to = from + Math.floor(random() * 30_000);
      const view = await boundedView(log, from, to);
      expect(view.to).toBeLessThanOrEqual(to);
      expect(typeof view.output).toBe('string');
      const [, bytes, offset] =
        /\[(\d+) bytes \/ \d+ lines omitted, read from offset (\d+)\]/.exec(view.output) ?? [];
      expect([view.omittedBytes, view.omittedBytes > 0]).toEqual([Number(bytes ?? 0), bytes !== undefined]);
      if (bytes) await page(log, Number(offset), Number(offset) + Number(bytes));
    }
  });

  test('shows nothing of a missing log', async () => {
    expect(await boundedView(join(folder, 'none'), 0, 0)).toEqual({
      output: '',
      from: 0,
      to: 0,
      omittedBytes: 0,
    });
  });
});

describe('pages', () => {
  test.each([4, 5, 6, 7, 8, 13, 64])(
    'of %i bytes never split a character and add up to the text',
    async (size) => {
      const text = 'aé日🎉 ñ𝄞z'.repeat(20);
      const end = write(text);
      let shown = '';
      for (let from = 0; from < end;) {
        const { output, to } = await page(log, from, Math.min(from + size, end));
        expect(output).not.toContain('\ufffd');
        expect(to).toBeGreaterThan(from);
        shown += output;
        from = to;
      }
      expect(shown).toBe(text);
    },
  );

  test.each([16, 17, 18, 19, 23, 64])(
    'of %i bytes never split a colour or a title, whose rest would be text, and add up to the text',
    async (size) => {
      const end = write('a\x1b[1;31mré\x1b]0;title\x07d\x1b(B\x1b[0m'.repeat(50));
      let shown = '';
      for (let from = 0; from < end;) {
        const { output, to } = await page(log, from, Math.min(from + size, end));
        expect(to).toBeGreaterThan(from);
        shown += output;
        from = to;
      }
      expect(shown).toBe('aréd'.repeat(50));
    },
  );

  test('show all text, also behind what only looks like the beginning of a sequence', async () => {
    const end = write('one\x1b[\ntwo\x1b]');
    const { output, to } = await page(log, 0, end);
    expect(output).toBe('one\nwo');
    expect(await page(log, to, end)).toMatchObject({ output: '', to: end });
  });

  test.each([1, 2, 3])('of %i bytes continue through a character that is longer', async (size) => {
    const end = write('日🎉日');
    let from = 0;
    for (let n = 0; from < end && n < 20; n++)
      ({ to: from } = await page(log, from, Math.min(from + size, end)));
    expect(from).toBe(end);
  });

  test('with edges anywhere in bytes of any kind never throw, move on and leave nothing out', async () => {
    const random = randomOf(2);
    const bytes = randomBytesOf(random, 20_000);
    writeFileSync(log, bytes);
    for (let from = 0; from < bytes.length;) {
      const view = await page(log, from, Math.min(bytes.length, from + 1 + Math.floor(random() * 200)));
      expect(view.from).toBe(from);
      expect(view.to).toBeGreaterThan(from);
      from = view.to;
    }
  });

  test('of text add up to it wherever their edges lie', async () => {
    const random = randomOf(3);
    const text = Array.from({ length: 4_000 }, () => 'aé日🎉\n'.at(Math.floor(random() * 5)))
      .join('')
      .replace(/[\ud800-\udfff]/g, '🎉');
    const end = write(text);
    let shown = '';
    for (let from = 0; from < end;) {
      const view = await page(log, from, Math.min(end, from + 4 + Math.floor(random() * 60)));
      shown += view.output;
      from = view.to;
    }
    expect(shown).toBe(text);
  });

  test('continue through bytes that are not text', async () => {
    writeFileSync(log, Buffer.alloc(1_000, 0xff));
    let from = 0;
    for (let n = 0; from < 1_000 && n < 2_000; n++)
      ({ to: from } = await page(log, from, Math.min(from + 10, 1_000)));
    expect(from).toBe(1_000);
  });

  test('from offset -1 are refused with what is allowed', async () => {
    write('abc');
    await expect(page(log, -1, 9)).rejects.toMatchObject({
      code: 'offset_out_of_range',
      facts: { got: -1, allowed: 3 },
    });
  });

  test('at the end of the log are empty', async () => {
    write('abc');
    expect(await page(log, 3, 3)).toEqual({ output: '', from: 3, to: 3, omittedBytes: 0 });
  });

  test.each([0, 2, 4])(
    'from %i on, up to where the log no longer reaches, are refused as truncated',
    async (from) => {
      write('abc');
      for (const read of [page, boundedView])
        await expect(read(log, from, 6)).rejects.toMatchObject({
          code: 'storage_failed',
          message: expect.stringContaining('truncated: it ends at offset 3, before') as string,
        });
    },
  );

  test('of a missing log are refused after 0, and of a deleted one they say so', async () => {
    await expect(page(join(folder, 'never-opened', 'log'), 1, 2)).rejects.toMatchObject({
      code: 'offset_out_of_range',
      facts: { allowed: 0 },
    });
    await expect(page(join(folder, 'none'), 1, 2)).rejects.toMatchObject({ code: 'storage_failed' });
  });
});

describe('a log of which a part is lost', () => {
  /** `one\n` and `five\n` are there; where `two`, `three` and `four` stood are zeros. */
  beforeEach(() => {
    write(`one\n${'\0'.repeat(14)}five\n`);
    recordLoss(log, { from: 4, to: 18 });
  });
  const NOTE = '[14 bytes are lost: the log was truncated or deleted]';

  test('is shown with a note in the place of that part, by views and pages alike', async () => {
    const whole = { output: `one\n${NOTE}\nfive\n`, from: 0, to: 23, omittedBytes: 14 };
    expect(await boundedView(log, 0, 23)).toEqual(whole);
    expect(await page(log, 0, 23)).toEqual(whole);
    expect(await boundedView(log, 0, 10)).toMatchObject({
      output: expect.stringMatching(/^one\n\[6 bytes/) as string,
      to: 10,
    });
  });

  test('is read on by pages, each at most one note, and the offsets are those of the bytes', async () => {
    expect(await page(log, 0, 6)).toMatchObject({ output: `one\n${NOTE}\n`, to: 18 });
    expect(await page(log, 10, 12)).toMatchObject({
      output: '[8 bytes are lost: the log was truncated or deleted]\n',
      to: 18,
    });
    expect(await page(log, 18, 23)).toEqual({ output: 'five\n', from: 18, to: 23, omittedBytes: 0 });
  });

  test('is bounded, however many parts are lost', async () => {
    const text = 'x'.repeat(40_000);
    const log = join(folder, 'long');
    writeFileSync(log, text);
    for (let at = 20_000; at < 25_000; at += 100) recordLoss(log, { from: at, to: at + 50 });
    const { output, omittedBytes } = await boundedView(log, 0, text.length);
    expect(output.length).toBeLessThan(2 * 17 * 1024);
    expect(output).toContain(
      '[2500 bytes are lost: the log was truncated or deleted; 2450 bytes between omitted, read from offset 20050]',
    );
    expect(output.replaceAll(/[^x]/g, '').length + omittedBytes).toBe(text.length);
  });

  test('is never read as zeros: raw reads end before that part, and within it say where the log continues', async () => {
    expect(readLog(log, 0, 23).toString()).toBe('one\n');
    const lost = { code: 'log_lost', facts: { from: 4, to: 18 } };
    for (const from of [4, 17])
      expect(() => readLog(log, from, 23)).toThrow(expect.objectContaining(lost) as Error);
    expect(readLog(log, 18, 23).toString()).toBe('five\n');
    const pieces: string[] = [];
    for (let at = 0; at < 23;) {
      const piece = nextPiece(log, at, 23);
      pieces.push(shownPiece(piece).toString());
      at = piece.to;
    }
    expect(pieces).toEqual(['one\n', `\r\n${NOTE}\r\n`, 'five\n']);
  });

  test('is reported with the end that it lost while no holder lived, if its reader knows of that', async () => {
    const told = `one\n${NOTE}\nfive\n[7 bytes are lost: the log was truncated or deleted]\n`;
    expect(await page(log, 0, 30, { from: 23, to: 30 })).toEqual({
      output: told,
      from: 0,
      to: 30,
      omittedBytes: 21,
    });
    expect((await page(log, 25, 28, { from: 23, to: 30 })).output).toMatch(/^\[5 bytes are lost/);
    await expect(boundedView(log, 0, 30)).rejects.toMatchObject({ code: 'storage_failed', retryable: true });
  });

  test('gives patterns the texts around that part, and no text that spans it', async () => {
    expect(await keptTexts(log, { from: 0, to: 23 })).toEqual(['one\n', 'five\n']);
    expect(await keptTexts(log, { from: 6, to: 20 })).toEqual(['', 'fi']);
  });

  test('keeps one list of such parts in order, of no more than 64', () => {
    recordLoss(log, { from: 18, to: 30 });
    expect(lostParts(log)).toEqual([{ from: 4, to: 30 }]);
    recordLoss(log, { from: 10, to: 50 });
    expect(lostParts(log)).toEqual([{ from: 4, to: 50 }]);
    recordLoss(log, { from: 60, to: 70 });
    expect(lostParts(log)).toEqual([
      { from: 4, to: 50 },
      { from: 60, to: 70 },
    ]);
    recordLoss(log, { from: 2, to: 90 });
    expect(lostParts(log)).toEqual([{ from: 2, to: 90 }]);
    for (let at = 100; at < 1_100; at += 10) recordLoss(log, { from: at, to: at + 5 });
    expect(lostParts(log)).toHaveLength(64);
    expect(lostParts(log).at(-1)?.to).toBe(1_095);
  });
});
