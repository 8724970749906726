import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toolOnHost, type ToolOnHost } from '../../../helpers/tools/tool-call';

describe('read_file', () => {
  let read: ToolOnHost;
  const write = (name: string, content: string | Buffer): void =>
    writeFileSync(join(read.directory, name), content);
  beforeEach(() => {
    read = toolOnHost('read_file');
  });
  afterEach(() => read.remove());

  const LINES = 'one\ntwo\r\nthree\n\nfünf';
  test.each([
    [{}, LINES],
    [{ offset: 1 }, LINES],
    [{ offset: 2 }, 'two\r\nthree\n\nfünf'],
    [{ offset: 2, limit: 2 }, 'two\r\nthree\n'],
    [{ limit: 1 }, 'one\n'],
    [{ offset: 4, limit: 1 }, '\n'],
    [{ offset: 5, limit: 9 }, 'fünf'],
    [{ offset: 6 }, ''],
  ])('gives the text of the lines asked for and no more: %j', async (args, text) => {
    write('a.txt', LINES);
    expect(await read.value({ file_path: 'a.txt', ...args })).toBe(text);
    expect(await read.value({ file_path: join(read.directory, 'a.txt'), ...args })).toBe(text);
  });

  test('finds lines that lie far apart', async () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => `line ${i + 1}\n`);
    write('long.txt', lines.join(''));
    for (const offset of [1, 28_000, 60_000, 99_999]) {
      const text = await read.value({ file_path: 'long.txt', offset, limit: 2 });
      expect(text).toBe(lines.slice(offset - 1, offset + 1).join(''));
    }
  });

  test('keeps a byte order mark, and an empty file is an empty text', async () => {
    write('bom.txt', '\ufeffx');
    write('empty.txt', '');
    expect(await read.value({ file_path: 'bom.txt' })).toBe('\ufeffx');
    expect(await read.value({ file_path: 'empty.txt' })).toBe('');
  });

  test('reads files of the system, which have no size', async () => {
    expect(await read.value({ file_path: '/proc/self/status' })).toContain(`Pid:\t${process.pid}\n`);
  });

  test.each([
    ['absent.txt', {}, 'not_found', 'list_dir'],
    ['a.txt/below', {}, 'not_found', 'list_dir'],
    ['.', {}, 'invalid_input', 'a folder'],
    ['/dev/zero', {}, 'invalid_input', 'a device'],
    ['pipe', {}, 'invalid_input', 'a named pipe'],
    ['socket', {}, 'invalid_input', 'a socket'],
    ['binary', {}, 'invalid_input', 'a NUL byte at 2'],
    ['latin1', {}, 'invalid_input', 'iconv'],
    ['large', {}, 'invalid_input', 'offset and limit'],
    ['large', { offset: 2 }, 'invalid_input', 'offset and limit'],
    ['a.txt', { offset: 7 }, 'invalid_input', 'allowed 1 to 6, because a.txt has 5 lines'],
    ['a.txt', { offset: 0 }, 'invalid_input', '"offset"'],
    ['a.txt', { limit: 1.5 }, 'invalid_input', '"limit"'],
    ['', {}, 'invalid_input', '"file_path"'],
  ])('refuses %s %j at once: %s, %s', async (path, args, code, message) => {
    write('a.txt', LINES);
    write('binary', Buffer.from([65, 66, 0, 67]));
    write('latin1', Buffer.from([65, 0xe4, 66]));
    write('large', `x\n${'y'.repeat(11 * 1024 * 1024)}`);
    execFileSync('mkfifo', [join(read.directory, 'pipe')]);
    const server = createServer().listen(join(read.directory, 'socket'));
    const error = await read.error({ file_path: path, ...args });
    await new Promise((resolve) => server.close(resolve));
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) as string });
  });

  test('of a file too large to be read whole, lines are read', async () => {
    write('large', `x\n${'y'.repeat(11 * 1024 * 1024)}\nz\n`);
    expect(await read.value({ file_path: 'large', limit: 1 })).toBe('x\n');
    expect(await read.value({ file_path: 'large', offset: 3 })).toBe('z\n');
  });

  test('shows a model beginning and end of a long text, and how to read on', async () => {
    write('long.txt', 'x'.repeat(100_000));
    const text = await read.text({ file_path: 'long.txt' });
    expect(text.length).toBeLessThan(66_000);
    expect(text).toContain('[34464 bytes omitted; read them with offset and limit]');
  });
});

/** As Python has the names of files that are not UTF-8: `os.fsdecode(b"caf\\xe9")`. */
const LATIN = 'caf\udce9';

test.each<[string, Record<string, unknown>]>([
  ['write_file', { file_path: LATIN, content: 'new' }],
  ['write_file', { file_path: 'a.txt', content: LATIN }],
  ['read_file', { file_path: LATIN }],
  ['list_dir', { dir_path: LATIN }],
  ['grep_files', { pattern: 'x', path: LATIN }],
  ['apply_patch', { input: `*** Begin Patch\n*** Add File: ${LATIN}\n+new\n*** End Patch` }],
  ['shell', { command: ['touch', LATIN] }],
  ['shell', { command: `touch ${LATIN}` }],
  ['exec_command', { cmd: 'true', workdir: LATIN }],
])('%s refuses half a character, for which another one would be taken: %j', async (name, args) => {
  const tool = toolOnHost(name);
  try {
    expect(await tool.error(args)).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('half a character') as string,
    });
    expect(readdirSync(tool.directory)).toEqual([]);
  } finally {
    tool.remove();
  }
});

type Call = [tool: string, args: Record<string, unknown>];

/** Each with what its next step says, as a call in the folder DIR that is named there. */
test.each<[...Call, says: string, call: (dir: string) => Call]>([
  [
    'write_file',
    { file_path: 'a.txt', content: 'new', create_dirs: true },
    'Name the file by an absolute path',
    (dir) => ['write_file', { file_path: join(dir, 'b.txt'), content: 'new' }],
  ],
  [
    'apply_patch',
    { input: '*** Begin Patch\n*** Add File: a.txt\n+new\n*** End Patch' },
    'use write_file with an absolute path',
    (dir) => ['write_file', { file_path: join(dir, 'b.txt'), content: 'new' }],
  ],
  [
    'shell',
    { command: ['touch', 'a.txt'] },
    'Name another folder as `workdir`, by an absolute path',
    (dir) => ['shell', { command: 'printf new > b.txt', workdir: dir }],
  ],
])(
  '%s refuses a working folder whose path is not UTF-8, uses no other one, and says what to do',
  async (name, args, says, call) => {
    const tool = toolOnHost(name);
    const [otherName, otherArgs] = call(tool.directory);
    const other = toolOnHost(otherName);
    try {
      const host = { name: 'local', cwd: join(tool.directory, LATIN), env: { PATH: process.env.PATH ?? '' } };
      mkdirSync(join(tool.directory, LATIN));
      expect(await tool.error(args, { host })).toMatchObject({
        code: 'invalid_input',
        message: expect.stringMatching(
          new RegExp(`^The working folder is invalid: got "/.* Next: .*${says}`),
        ) as string,
      });
      expect(readdirSync(join(tool.directory, LATIN))).toEqual([]);
      await other.value(otherArgs, { host });
      expect(readFileSync(join(tool.directory, 'b.txt'), 'utf8')).toBe('new');
    } finally {
      tool.remove();
      other.remove();
    }
  },
);

describe('write_file', () => {
  let write: ToolOnHost;
  const path = (name: string): string => join(write.directory, name);
  beforeEach(() => {
    write = toolOnHost('write_file');
  });
  afterEach(() => write.remove());

  test('makes a file with exactly the content, and leaves nothing next to it', async () => {
    expect(await write.value({ file_path: 'a.txt', content: 'ä\r\n' })).toEqual({ bytes: 4 });
    expect(readFileSync(path('a.txt'), 'utf8')).toBe('ä\r\n');
    expect(readdirSync(write.directory)).toEqual(['a.txt']);
    expect(statSync(path('a.txt')).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  test('keeps the mode of a file, and the old content for processes already reading it', async () => {
    writeFileSync(path('run.sh'), 'old');
    chmodSync(path('run.sh'), 0o751);
    const before = statSync(path('run.sh')).ino;
    await write.value({ file_path: 'run.sh', content: 'new' });
    expect(statSync(path('run.sh')).mode & 0o7777).toBe(0o751);
    expect(statSync(path('run.sh')).ino).not.toBe(before);
  });

  test('nobody else can read the content before it is whole, whatever the mode of the file', async () => {
    writeFileSync(path('a.txt'), 'old');
    chmodSync(path('a.txt'), 0o666);
    const content = 'x'.repeat(8_000_000);
    let isDone = false;
    const done = write.value({ file_path: 'a.txt', content }).finally(() => (isDone = true));
    const modes = new Set<number>();
    while (!isDone) {
      for (const name of readdirSync(write.directory).filter((one) => one !== 'a.txt')) {
        const stats = statSync(path(name), { throwIfNoEntry: false });
        if (stats && stats.size < content.length) modes.add(stats.mode & 0o7777);
      }
      await new Promise(setImmediate);
    }
    await done;
    expect([...modes]).toEqual([0o600]);
    expect(statSync(path('a.txt')).mode & 0o7777).toBe(0o666);
  });

  test('new content never runs with the rights of the file that it replaces', async () => {
    writeFileSync(path('run.sh'), 'old');
    chmodSync(path('run.sh'), 0o6755);
    await write.value({ file_path: 'run.sh', content: 'new' });
    expect(statSync(path('run.sh')).mode & 0o7777).toBe(0o755);
  });

  test.each([
    ['a file', 'old'],
    ['a file that does not exist', null],
  ])('writes through a symbolic link to %s, which stays a link', async (_what, content) => {
    mkdirSync(path('real'));
    if (content !== null) writeFileSync(path('real/a.txt'), content);
    symlinkSync('real/a.txt', path('link'));
    await write.value({ file_path: 'link', content: 'new' });
    expect(lstatSync(path('link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(path('real/a.txt'), 'utf8')).toBe('new');
    expect(readdirSync(path('real'))).toEqual(['a.txt']);
  });

  test('creates the file that a link leads to, also where the link lies in a linked folder', async () => {
    mkdirSync(path('far/real'), { recursive: true });
    symlinkSync('far/real', path('linked'));
    symlinkSync('../new.txt', path('far/real/link'));
    await write.value({ file_path: 'linked/link', content: 'new' });
    expect(readFileSync(path('far/new.txt'), 'utf8')).toBe('new');
    expect(existsSync(path('new.txt'))).toBe(false);
  });

  test('makes folders if asked to, and only then', async () => {
    expect(await write.error({ file_path: 'x/y/a.txt', content: '' })).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('create_dirs') as string,
    });
    expect(existsSync(path('x'))).toBe(false);
    await write.value({ file_path: 'x/y/a.txt', content: 'new', create_dirs: true });
    expect(readFileSync(path('x/y/a.txt'), 'utf8')).toBe('new');
  });

  test.each([
    [{ file_path: '.', content: '' }, 'invalid_input', 'a folder'],
    [{ file_path: '/dev/null', content: '' }, 'invalid_input', 'a device'],
    [{ file_path: '/proc/none', content: '' }, 'not_found', '/proc/none'],
    [{ file_path: 'loop', content: '' }, 'file_failed', 'ELOOP'],
    [{ file_path: 'a.txt' }, 'invalid_input', '"/content"'],
    [{ file_path: 'a\0.txt', content: '' }, 'invalid_input', '"file_path"'],
  ])('refuses %j: %s, %s', async (args, code, message) => {
    symlinkSync('loop', path('loop'));
    const error = await write.error(args);
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) as string });
    expect(readdirSync(write.directory)).toEqual(['loop']);
  });

  test('runs again after a lost worker: the same content twice is the same file', async () => {
    await write.value({ file_path: 'a.txt', content: 'x' }, { attempt: 2 });
    expect(readFileSync(path('a.txt'), 'utf8')).toBe('x');
  });
});

describe('list_dir', () => {
  let list: ToolOnHost;
  beforeEach(() => {
    list = toolOnHost('list_dir');
    const at = (name: string): string => join(list.directory, name);
    mkdirSync(at('sub/deep'), { recursive: true });
    for (const name of ['b.txt', '.hidden', 'sub/c.txt', 'sub/deep/d.txt']) writeFileSync(at(name), '');
    symlinkSync('..', at('sub/up'));
    execFileSync('mkfifo', [at('pipe')]);
  });
  afterEach(() => list.remove());

  const TOP = [
    { path: '.hidden', type: 'file' },
    { path: 'b.txt', type: 'file' },
    { path: 'pipe', type: 'other' },
    { path: 'sub', type: 'directory' },
  ];
  const SUB = [
    { path: 'sub/c.txt', type: 'file' },
    { path: 'sub/deep', type: 'directory' },
    { path: 'sub/up', type: 'symlink' },
  ];
  test.each([
    [{}, TOP, 4],
    [{ depth: 2 }, [...TOP, ...SUB], 7],
    [{ depth: 20, offset: 6, limit: 2 }, [SUB[1], { path: 'sub/deep/d.txt', type: 'file' }], 8],
    [{ dir_path: 'sub/deep' }, [{ path: 'd.txt', type: 'file' }], 1],
    [{ offset: 9 }, [], 4],
  ])('lists sorted and typed, by pages, and follows no link: %j', async (args, entries, total) => {
    expect(await list.value(args)).toEqual({ entries, total, truncated: false });
  });

  test('says to a model that there is more', async () => {
    expect(await list.text({})).toBe('.hidden\nb.txt\npipe?\nsub/');
    expect(await list.text({ limit: 1 })).toMatch(/^\.hidden\n\[1 of 4 entries; .*offset/);
  });

  test.each([
    [{ dir_path: 'absent' }, 'not_found'],
    [{ dir_path: 'b.txt' }, 'not_found'],
    [{ depth: 0 }, 'invalid_input'],
    [{ limit: 5_001 }, 'invalid_input'],
  ])('refuses %j: %s', async (args, code) => {
    expect(await list.error(args)).toMatchObject({ code });
  });
});

// bug-ops/zeph#5410: a folder called "~" invites to "rm -rf ~".
describe('"~" is the home folder, and never a folder of that name', () => {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-home-'));
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  beforeAll(() => writeFileSync(join(home, 'a.txt'), 'at home\n'));

  test.each<[string, Record<string, unknown>, unknown]>([
    ['read_file', { file_path: '~/a.txt' }, 'at home\n'],
    [
      'list_dir',
      { dir_path: '~/' },
      { entries: [{ path: 'a.txt', type: 'file' }], total: 1, truncated: false },
    ],
    [
      'list_dir',
      { dir_path: '~' },
      { entries: [{ path: 'a.txt', type: 'file' }], total: 1, truncated: false },
    ],
    [
      'grep_files',
      { pattern: 'home', path: '~' },
      { matches: [{ file: join(home, 'a.txt'), line: 1, text: 'at home' }], truncated: false },
    ],
    ['shell', { command: ['pwd'], workdir: '~' }, { output: `${home}\n`, exit_code: 0 }],
    ['write_file', { file_path: '~/new/b.txt', content: 'x', create_dirs: true }, { bytes: 1 }],
  ])('%s %j', async (name, args, value) => {
    const tool = toolOnHost(name, { HOME: home });
    try {
      expect(await tool.value(args)).toEqual(value);
      expect(readdirSync(tool.directory)).toEqual([]);
    } finally {
      rmSync(join(home, 'new'), { recursive: true, force: true });
      tool.remove();
    }
  });

  test('without a HOME it is refused with what to write', async () => {
    const write = toolOnHost('write_file');
    const error = await write.error({ file_path: '~/a.txt', content: 'x', create_dirs: true });
    expect(error).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('absolute path') as string,
    });
    expect(readdirSync(write.directory)).toEqual([]);
    write.remove();
  });

  test('a name that only begins with it, or that is written out, is a name', async () => {
    const write = toolOnHost('write_file', { HOME: home });
    for (const file_path of ['~$draft.txt', './~']) await write.value({ file_path, content: 'x' });
    expect(readdirSync(write.directory).sort()).toEqual(['~', '~$draft.txt']);
    write.remove();
  });
});
