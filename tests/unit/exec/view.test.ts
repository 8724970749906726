import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
    expect((await boundedView(log, 0, limit + 1)).output).toContain('bytes omitted');
  });

  test.each([0, 1_234])(
    'keeps head and tail of long output, and the note leads to the rest (from %i)',
    async (from) => {
      const to = write(Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`).join(''));
      const view = await boundedView(log, from, to);
      const [, head, omitted, offset, tail] =
        /^([^]*)\n\[(\d+) bytes omitted, read from offset (\d+)\]\n([^]*)$/.exec(view.output) ?? [];
      expect(view).toMatchObject({ from, to, omittedBytes: Number(omitted) });
      expect(Buffer.byteLength(view.output)).toBeLessThan(17 * 1024);
      const between = await page(log, Number(offset), Number(offset) + Number(omitted));
      expect(`${head}${between.output}${tail}`).toBe((await page(log, from, to)).output);
      expect(head?.endsWith('\n')).toBe(true);
      expect(tail).toMatch(/^line \d+\n/);
    },
  );

  test('cuts one endless line without splitting a character', async () => {
    const to = write('日'.repeat(20_000));
    const view = await boundedView(log, 0, to);
    const [, head, omitted, , tail] =
      /^(.*)\n\[(\d+) bytes omitted, read from offset (\d+)\]\n(.*)$/.exec(view.output) ?? [];
    expect(`${head}${tail}`).toMatch(/^日+$/);
    expect(Buffer.byteLength(`${head}${tail}`) + Number(omitted)).toBe(to);
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

  test('of a log that is not there are refused behind 0', async () => {
    await expect(page(join(folder, 'none'), 1, 2)).rejects.toMatchObject({
      code: 'offset_out_of_range',
      facts: { allowed: 0 },
    });
  });
});
