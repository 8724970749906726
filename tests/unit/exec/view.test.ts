// S11, S12: what is left out of long output is counted and can be read on; no bytes break a view.
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { boundedView, page } from '../../../exec/view';

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

  test('shows what lies between its offsets alone', async () => {
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

  test('of bytes of any kind, cut anywhere, never throws and says where it goes on', async () => {
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

  test('shows nothing of a log that is not there', async () => {
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

  test.each([1, 2, 3])('of %i bytes go on through a character that is longer', async (size) => {
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

  test('go on through bytes that are no text', async () => {
    writeFileSync(log, Buffer.alloc(1_000, 0xff));
    let from = 0;
    for (let n = 0; from < 1_000 && n < 2_000; n++)
      ({ to: from } = await page(log, from, Math.min(from + 10, 1_000)));
    expect(from).toBe(1_000);
  });

  test.each([-1, 4])('from offset %i, outside of the log, are refused with what is allowed', async (from) => {
    write('abc');
    await expect(page(log, from, from + 10)).rejects.toMatchObject({
      code: 'offset_out_of_range',
      facts: { got: from, allowed: 3 },
    });
  });

  test('at the end of the log are empty', async () => {
    write('abc');
    expect(await page(log, 3, 10)).toEqual({ output: '', from: 3, to: 3, omittedBytes: 0 });
  });

  test('of a log that is not there are refused behind 0, and of one that was deleted they say so', async () => {
    await expect(page(join(folder, 'never-opened', 'log'), 1, 2)).rejects.toMatchObject({
      code: 'offset_out_of_range',
      facts: { allowed: 0 },
    });
    await expect(page(join(folder, 'none'), 1, 2)).rejects.toMatchObject({ code: 'storage_failed' });
  });
});
