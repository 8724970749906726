import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MAX_TEXT_BYTES } from '../../../../tools/files/host-files';
import { toolOnHost, type ToolOnHost } from '../../../helpers/tools/tool-call';
import { until } from '../../../helpers/until';
import { missingOf } from '../../../helpers/run/programs';

const noRipgrep = missingOf('rg');
const empty = mkdtempSync(join(tmpdir(), 'holdfast-no-programs-'));
afterAll(() => rmSync(empty, { recursive: true, force: true }));

const FILES: Record<string, string | Buffer> = {
  'a.rs': 'fn main() {}\n// TODO: one\nlet x = "TODO";\n',
  'src/b.rs': 'todo\r\nTODO two\r\n',
  'src/deep/c.ts': 'const a = 1; // TODO\nfoo(1)\nfünf (TODO)',
  'src/deep/d.tsx': 'TODO tsx\n',
  '.hidden/e.rs': 'TODO hidden\n',
  '.git/f.rs': 'TODO git\n',
  'node_modules/g.js': 'TODO ignored\n',
  'out/keep.txt': 'TODO kept\n',
  'out/other.txt': 'TODO not kept\n',
  '.gitignore': 'node_modules/\nout/*\n!out/keep.txt\n*.log\n',
  'src/.gitignore': '!debug.log\n',
  'src/debug.log': 'TODO debug\n',
  'other.log': 'TODO other\n',
  binary: Buffer.from('TODO\0TODO\n'),
  late: Buffer.concat([Buffer.from('TODO early\n'.repeat(20_000)), Buffer.from([0])]),
  latin1: Buffer.from('TODO f\xfcnf\n', 'latin1'),
  'name with\nbreak': 'TODO name\n',
  separators: 'a\u2028TODO b\u2029c\n',
  '-e': 'TODO dash\n',
};

/** A file of 20 MB by 400 names: to search them all takes seconds. */
function writeMuch(folder: string): void {
  writeFileSync(join(folder, 'much0.txt'), `${'a line without it\n'.repeat(1_200_000)}`);
  for (let n = 1; n < 400; n++) linkSync(join(folder, 'much0.txt'), join(folder, `much${n}.txt`));
}
/** How many bytes this process has read; what ripgrep reads counts once it has ended. */
const bytesRead = (): number => Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
const searching = (folder: string): boolean => spawnSync('pgrep', ['-f', `^rg .*${folder}`]).status === 0;

const ways = [
  ['ripgrep', undefined],
  ['Node', empty],
] as const;
for (const [name, path] of ways) {
  const missing = name === 'Node' ? undefined : noRipgrep;
  (missing ? describe.skip : describe)(`by ${name}${missing ? ` (not checked: ${missing})` : ''}`, () => {
    let grep: ToolOnHost;
    beforeEach(() => {
      grep = toolOnHost('grep_files', path === undefined ? {} : { PATH: path });
      for (const [name, content] of Object.entries(FILES)) {
        mkdirSync(dirname(join(grep.directory, name)), { recursive: true });
        writeFileSync(join(grep.directory, name), content);
      }
      symlinkSync('..', join(grep.directory, 'src', 'circle'));
      symlinkSync('a.rs', join(grep.directory, 'link.rs'));
      execFileSync('mkfifo', [join(grep.directory, 'pipe')]);
    });
    afterEach(() => grep.remove());

    const found = async (args: Record<string, unknown>): Promise<string[]> => {
      const { matches } = (await grep.value(args)) as {
        matches: { file: string; line: number; text: string }[];
      };
      return matches.map(({ file, line, text }) => `${file}:${line}:${text}`);
    };

    // anthropics/claude-code#86560: Python cannot print half a surrogate pair.
    test('a long line is never cut within a character', async () => {
      for (const length of [498, 499, 500]) {
        writeFileSync(join(grep.directory, 'long'), `${'b'.repeat(length)}😀😀\n`);
        const [line = ''] = await found({ pattern: 'bbb', include: 'long' });
        expect([length, line.endsWith('…'), line.isWellFormed()]).toEqual([length, true, true]);
      }
    });

    test.each<[object, string[]]>([
      [
        { include: '*.rs' },
        [
          '.hidden/e.rs:1:TODO hidden',
          'a.rs:2:// TODO: one',
          'a.rs:3:let x = "TODO";',
          'src/b.rs:2:TODO two',
        ],
      ],
      [
        { include: '*.{ts,tsx}' },
        ['src/deep/c.ts:1:const a = 1; // TODO', 'src/deep/c.ts:3:fünf (TODO)', 'src/deep/d.tsx:1:TODO tsx'],
      ],
      [{ include: 'src/**/*.tsx' }, ['src/deep/d.tsx:1:TODO tsx']],
      [{ include: 'src/*.rs' }, ['src/b.rs:2:TODO two']],
      [{ path: 'src', include: 'deep/*.tsx' }, ['src/deep/d.tsx:1:TODO tsx']],
      [{ path: 'out' }, ['out/keep.txt:1:TODO kept']],
      [{ path: 'a.rs' }, ['a.rs:2:// TODO: one', 'a.rs:3:let x = "TODO";']],
      [{ path: 'src', include: '*.log' }, ['src/debug.log:1:TODO debug']],
      [{ include: '*.log' }, ['src/debug.log:1:TODO debug']],
      [{ include: 'binary' }, []],
      [{ include: 'late' }, []],
      [{ include: 'latin1' }, ['latin1:1:TODO f\ufffdnf']],
      [{ include: 'name*' }, ['name with\nbreak:1:TODO name']],
      [{ include: '-e' }, ['-e:1:TODO dash']],
      [{ include: 'separators' }, ['separators:1:a\u2028TODO b\u2029c']],
      [{ path: 'node_modules' }, ['node_modules/g.js:1:TODO ignored']],
    ])('finds the lines of the files that count: %j', async (args, lines) => {
      expect(await found({ pattern: 'TODO', ...args })).toEqual(lines);
    });

    test.each([
      ['^todo', ['src/b.rs:1:todo']],
      ['(?i)^todo t', ['src/b.rs:2:TODO two', 'src/deep/d.tsx:1:TODO tsx']],
      ['foo\\(\\d\\)', ['src/deep/c.ts:2:foo(1)']],
      ['f.nf \\(', ['src/deep/c.ts:3:fünf (TODO)']],
      ['TODO(?= two)', ['src/b.rs:2:TODO two']],
      ['\\bmain\\b', ['a.rs:1:fn main() {}']],
      ['"TODO";$', ['a.rs:3:let x = "TODO";']],
      ['no such text', []],
    ])('takes the expression %s', async (pattern, lines) => {
      expect(await found({ pattern, include: '*.{rs,ts,tsx}' })).toEqual(lines);
    });

    test('names files so that read_file finds them', async () => {
      const path = join(grep.directory, 'out');
      expect(await found({ pattern: 'TODO', path })).toEqual([`${path}/keep.txt:1:TODO kept`]);
      mkdirSync(join(grep.directory, 'empty'));
      expect(await found({ pattern: 'TODO', path: 'empty' })).toEqual([]);
    });

    test('stops at the limit and says that there is more', async () => {
      const args = { pattern: 'TODO', include: '*.rs' };
      expect(await grep.value({ ...args, limit: 2 })).toMatchObject({ matches: [{}, {}], truncated: true });
      expect(await grep.value({ ...args, limit: 4 })).toMatchObject({ truncated: false });
      expect(await grep.text({ ...args, limit: 1 })).toMatch(
        /^\.hidden\/e\.rs:1:TODO hidden\n\[there are more/,
      );
      expect(await grep.text({ pattern: 'no such' })).toBe('No matches.');
    });

    test('more files than one command line takes are all searched', async () => {
      for (let i = 0; i < 1_200; i++) writeFileSync(join(grep.directory, `n${i}`), `needle ${i}\n`);
      expect(await found({ pattern: 'needle', limit: 5_000 })).toHaveLength(1_200);
    });

    test('a pipe, a device or a long file that is called .gitignore rules nothing, and keeps no thread of the worker', async () => {
      const { directory } = grep;
      for (const folder of ['one', 'two', 'three', 'four']) {
        mkdirSync(join(directory, folder));
        execFileSync('mkfifo', [join(directory, folder, '.gitignore')]);
      }
      for (const folder of ['device', 'long']) mkdirSync(join(directory, folder));
      symlinkSync('/dev/zero', join(directory, 'device', '.gitignore'));
      writeFileSync(join(directory, 'long', '.gitignore'), `x\n${' '.repeat(MAX_TEXT_BYTES)}`);
      for (const folder of ['one', 'device', 'long'])
        writeFileSync(join(directory, folder, 'x'), 'TODO here');
      const all = await found({ pattern: 'TODO here' });
      expect(all).toEqual(['device/x:1:TODO here', 'long/x:1:TODO here', 'one/x:1:TODO here']);
      expect(await readFile(join(directory, 'a.rs'), 'utf8')).toBe(FILES['a.rs']);
    });

    test('a file that is larger than memory should hold at once is searched to its end', async () => {
      const line = `${'y'.repeat(1_023)}\n`;
      const path = join(grep.directory, 'large');
      writeFileSync(path, line.repeat(70_000));
      appendFileSync(path, `${'z'.repeat(20_000_000)}\nneedle\n`);
      expect(await found({ pattern: 'needle', path: 'large' })).toEqual(['large:70002:needle']);
    });

    test('a long line is cut', async () => {
      writeFileSync(join(grep.directory, 'long'), `x${'y'.repeat(100_000)}\n`);
      expect((await found({ pattern: '^x' }))[0]).toHaveLength('long:1:'.length + 501);
    });

    test.each([
      [{ pattern: '(' }, 'invalid_input', '"pattern"'],
      [{ pattern: 'a(?=b' }, 'invalid_input', '"pattern"'],
      [{ pattern: '\\Zx' }, 'invalid_input', 'the escape \\Z is unknown'],
      [{ pattern: 'TODO\\n' }, 'invalid_input', 'each line is searched separately'],
      [{ pattern: '' }, 'invalid_input', '"pattern"'],
      [{ pattern: 'a\nb' }, 'invalid_input', '"pattern"'],
      [{ pattern: 'a', path: 'absent' }, 'not_found', 'absent'],
      [{ pattern: 'a', path: 'pipe' }, 'invalid_input', 'a named pipe'],
      [{ pattern: 'a', limit: 0 }, 'invalid_input', '"limit"'],
    ])('refuses %j: %s', async (args, code, place) => {
      expect(await grep.error(args)).toMatchObject({
        code,
        message: expect.stringContaining(place) as string,
      });
    });

    test('an include that takes for ever to match is refused', async () => {
      writeFileSync(join(grep.directory, 'a'.repeat(60)), 'TODO');
      const include = `${'*a'.repeat(12)}*b`;
      expect(await grep.error({ pattern: 'TODO', include })).toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('allowed a pattern with fewer stars') as string,
      });
    });

    test('an expression that backtracks endlessly is an error, and the process continues meanwhile', async () => {
      writeFileSync(join(grep.directory, 'trap'), `${'a'.repeat(40)}!\n`);
      let turns = 0;
      const beat = setInterval(() => (turns += 1), 50);
      // With a look-ahead, which ripgrep leaves to Node.
      const error = await grep.error({ pattern: '^(?=a)(a+)+$' });
      clearInterval(beat);
      expect(error).toMatchObject({
        code: 'invalid_input',
        message: expect.stringMatching(/takes longer than 3000 ms in .*trap/) as string,
      });
      expect(turns).toBeGreaterThan(20);
    });

    test('a search whose turn is stopped, before it or in the middle of it, ends and reads no further', async () => {
      const before = AbortSignal.abort(new Error('stopped'));
      await expect(grep.value({ pattern: 'a' }, { signal: before })).rejects.toThrow('stopped');
      writeMuch(grep.directory);
      const stop = new AbortController();
      const start = bytesRead();
      let isOver = false;
      const search = grep.value({ pattern: 'x.*[yz]$', include: '*.txt' }, { signal: stop.signal });
      const over = search.finally(() => (isOver = true));
      over.catch(() => undefined);
      const runs = (): boolean =>
        path === undefined ? searching(grep.directory) : bytesRead() - start > 30_000_000;
      await until(runs);
      expect(isOver).toBe(false);
      stop.abort(new Error('stopped'));
      await expect(search).rejects.toThrow('stopped');
      expect(searching(grep.directory)).toBe(false);
      expect(bytesRead() - start).toBeLessThan(4_000_000_000);
    }, 30_000);
  });
}
