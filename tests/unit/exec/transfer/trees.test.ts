// A tree arrives as it was sent, and only where it was sent.
import { execFileSync } from 'node:child_process';
import fs, {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathOf } from '../../../../exec/transfer/names';
import type { Entry, Message } from '../../../../exec/transfer/transfer-messages';
import { receiveTree } from '../../../../exec/transfer/receiver/receive-tree';
import { channelPair, copy, Seen, treeOf } from '../../../helpers/hosts/transfers';

let root: string;
let from: string;
let to: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-transfer-'));
  from = join(root, 'from');
  to = join(root, 'to');
  mkdirSync(from);
  mkdirSync(to);
});
afterEach(() => {
  jest.restoreAllMocks();
  execFileSync('chmod', ['-R', 'u+rwx', root]);
  rmSync(root, { recursive: true });
});

test('a tree arrives whole: modes, links, empty folders and files, names that are no UTF-8', async () => {
  mkdirSync(join(from, 'sub', 'deep'), { recursive: true });
  mkdirSync(join(from, 'empty'));
  mkdirSync(join(from, 'locked'));
  writeFileSync(join(from, 'sub', 'deep', 'large'), Buffer.alloc(3_000_001, 'ab'));
  writeFileSync(join(from, 'nothing'), '');
  writeFileSync(join(from, 'run.sh'), 'echo hi\n');
  writeFileSync(join(from, 'locked', 'inside'), 'x');
  writeFileSync(Buffer.concat([Buffer.from(`${from}/`), Buffer.from([0xff, 0x0a, 0x1b])]), 'bytes');
  symlinkSync('/etc/passwd', join(from, 'absolute'));
  symlinkSync('../../nowhere', join(from, 'sub', 'dangling'));
  chmodSync(join(from, 'run.sh'), 0o750);
  chmodSync(join(from, 'locked'), 0o555);
  const { sender, receiver } = await copy(from, join(to, 'tree'));
  expect(treeOf(join(to, 'tree'))).toEqual(treeOf(from));
  expect(sender.of('done').sort()).toEqual(receiver.of('done').sort());
  expect(sender.bytes).toBe(3_000_001 + 8 + 1 + 5);
});

test('set-user-ID and the like stay behind, and both sides say of what', async () => {
  writeFileSync(join(from, 'program'), 'x');
  chmodSync(join(from, 'program'), 0o6755);
  writeFileSync(join(from, 'plain'), 'x');
  mkdirSync(join(from, 'shared'));
  chmodSync(join(from, 'shared'), 0o1777);
  const { sender, receiver } = await copy(from, join(to, 'tree'));
  const told = { program: ['set-user-ID', 'set-group-ID'], shared: ['sticky'] };
  for (const { outcomes } of [sender, receiver]) {
    const said = outcomes.flatMap((one) =>
      one.is === 'done' && one.notCopied ? [[one.path.split('/').at(-1), one.notCopied]] : [],
    );
    expect(Object.fromEntries(said)).toEqual(told);
  }
  expect(lstatSync(join(to, 'tree', 'program')).mode & 0o7777).toBe(0o755);
});

test('a path through a link and `..` gives the file that the kernel finds there', async () => {
  mkdirSync(join(root, 'far', 'deep'), { recursive: true });
  symlinkSync(join(root, 'far', 'deep'), join(from, 'link'));
  writeFileSync(join(root, 'far', 'file'), 'the kernel’s');
  writeFileSync(join(from, 'file'), 'another');
  await copy(`${from}/link/../file`, to);
  expect(readFileSync(join(to, 'file'), 'utf8')).toBe('the kernel’s');
});

test('a link into a folder whose name is no UTF-8 is copied from there', async () => {
  const folder = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xe9])]);
  mkdirSync(folder);
  writeFileSync(Buffer.concat([folder, Buffer.from('/file')]), 'content');
  symlinkSync(Buffer.concat([folder, Buffer.from('/file')]), join(from, 'link'));
  await copy(join(from, 'link'), to);
  expect(readFileSync(join(to, 'link'), 'utf8')).toBe('content');
});

test('an existing folder gets the tree in it; the same once more merges and replaces', async () => {
  writeFileSync(join(from, 'a'), 'one');
  await copy(from, to);
  writeFileSync(join(from, 'a'), 'two');
  writeFileSync(join(to, 'from', 'kept'), 'kept');
  await copy(from, to);
  expect(readdirSync(join(to, 'from')).sort()).toEqual(['a', 'kept']);
  expect(readFileSync(join(to, 'from', 'a'), 'utf8')).toBe('two');
  await copy(`${from}/.`, to);
  expect(readFileSync(join(to, 'a'), 'utf8')).toBe('two');
});

test('with clobber off what exists stays, and the rest arrives', async () => {
  writeFileSync(join(from, 'a'), Buffer.alloc(2_000_000, 'n'));
  writeFileSync(join(from, 'b'), 'new');
  symlinkSync('new', join(from, 'l'));
  writeFileSync(join(to, 'a'), 'old');
  symlinkSync('old', join(to, 'l'));
  const { sender } = await copy(`${from}/.`, to, { clobber: false });
  expect(sender.of('skipped')).toEqual(['./a', './l']);
  expect(readFileSync(join(to, 'a'), 'utf8')).toBe('old');
  expect(readlinkSync(join(to, 'l'))).toBe('old');
  expect(readFileSync(join(to, 'b'), 'utf8')).toBe('new');
  expect(readdirSync(to).sort()).toEqual(['a', 'b', 'l']);
});

test.each(['EPERM', 'ENOTSUP', 'ENOSYS'])(
  'with clobber off a file system without hard links gets every file that is not there: %s',
  async (code) => {
    const link = jest.spyOn(fs, 'linkSync').mockImplementation((_, target) => {
      // Somebody else makes this one at the last moment.
      if (String(target).endsWith('/b')) writeFileSync(join(to, 'b'), 'old');
      throw Object.assign(new Error(code), { code });
    });
    writeFileSync(join(from, 'a'), 'new');
    writeFileSync(join(from, 'b'), 'new');
    const { sender } = await copy(`${from}/.`, to, { clobber: false });
    expect(link).toHaveBeenCalledTimes(2);
    expect(sender.of('done')).toContain('./a');
    expect(sender.of('skipped')).toEqual(['./b']);
    expect(readFileSync(join(to, 'a'), 'utf8')).toBe('new');
    expect(readFileSync(join(to, 'b'), 'utf8')).toBe('old');
    expect(readdirSync(to).sort()).toEqual(['a', 'b']);
  },
);

test('folders are copied to a file system that has no sticky bit', async () => {
  const change = fs.fchmodSync;
  jest.spyOn(fs, 'fchmodSync').mockImplementation((fd, mode) => {
    if (Number(mode) > 0o777) throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
    change(fd, mode);
  });
  mkdirSync(join(from, 'a', 'b'), { recursive: true });
  writeFileSync(join(from, 'a', 'b', 'c'), 'new');
  await copy(`${from}/.`, to, {});
  expect(readFileSync(join(to, 'a', 'b', 'c'), 'utf8')).toBe('new');
});

test('sockets, devices and pipes are skipped and said, and nobody waits for them', async () => {
  execFileSync('mkfifo', [join(from, 'pipe')]);
  writeFileSync(join(from, 'a'), '');
  const { sender, receiver } = await copy(from, join(to, 'tree'));
  for (const side of [sender, receiver])
    expect(side.outcomes).toContainEqual({ is: 'skipped', path: 'from/pipe', why: 'a named pipe' });
  expect(readdirSync(join(to, 'tree'))).toEqual(['a']);
  await expect(copy(join(from, 'pipe'), to)).rejects.toMatchObject({ code: 'invalid_input' });
});

test.each([
  ['a new folder in it', 'backup', ''],
  ['a folder in it that is there', 'old/backup', 'old/backup/from'],
  ['its own copy once more', 'backup', 'backup'],
])('a folder that is copied into %s is not copied without end', async (_what, target, made) => {
  mkdirSync(join(from, 'sub'));
  writeFileSync(join(from, 'sub', 'file'), 'x');
  if (made !== '') mkdirSync(join(from, made), { recursive: true });
  const { sender, receiver } = await copy(made === target ? `${from}/.` : from, join(from, target));
  const copied = join(from, made === '' ? target : made);
  expect(readFileSync(join(copied, 'sub', 'file'), 'utf8')).toBe('x');
  expect(
    execFileSync('find', [copied, '-name', 'file'], { encoding: 'utf8' }).trim().split('\n'),
  ).toHaveLength(1);
  for (const side of [sender, receiver]) {
    expect(side.of('failed')).toEqual([]);
    if (made !== '')
      expect(side.outcomes).toContainEqual(expect.objectContaining({ why: 'this copy itself' }));
  }
});

test('what other copies have not put in place yet is skipped, and said', async () => {
  writeFileSync(join(from, 'a'), '');
  const part = `.holdfast-${'0'.repeat(20)}-5.part`;
  writeFileSync(join(from, part), 'x');
  const { sender } = await copy(from, join(to, 'tree'));
  expect(readdirSync(join(to, 'tree'))).toEqual(['a']);
  expect(sender.outcomes).toContainEqual({ is: 'skipped', path: `from/${part}`, why: 'a part of a copy' });
});

test('a link in the way is replaced or refused, never followed', async () => {
  const outside = join(root, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'file'), 'mine');
  mkdirSync(join(from, 'sub'));
  writeFileSync(join(from, 'sub', 'file'), 'theirs');
  writeFileSync(join(from, 'file'), 'theirs');
  symlinkSync(outside, join(to, 'sub'));
  symlinkSync(join(outside, 'file'), join(to, 'file'));
  const { sender } = await copy(`${from}/.`, to);
  expect(sender.of('failed')).toEqual(['./sub']);
  expect(sender.of('skipped')).toEqual(['./sub/file']);
  expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('mine');
  expect(lstatSync(join(to, 'file')).isFile()).toBe(true);
  expect(readdirSync(outside)).toEqual(['file']);
});

test('a file does not replace a folder, nor a folder a file; the others arrive', async () => {
  writeFileSync(join(from, 'a'), 'file');
  mkdirSync(join(from, 'b'));
  writeFileSync(join(from, 'c'), 'c');
  mkdirSync(join(to, 'a'));
  writeFileSync(join(to, 'b'), 'file');
  const { sender, receiver } = await copy(`${from}/.`, to);
  for (const side of [sender, receiver]) expect(side.of('failed').sort()).toEqual(['./a', './b']);
  expect(readFileSync(join(to, 'c'), 'utf8')).toBe('c');
  expect(readdirSync(to).sort()).toEqual(['a', 'b', 'c']);
});

test('a missing source, and a target in a folder that is missing, are told with their paths', async () => {
  await expect(copy(join(from, 'none'), to)).rejects.toMatchObject({
    code: 'not_found',
    facts: { got: join(from, 'none') },
  });
  writeFileSync(join(from, 'a'), '');
  const { sender } = await copy(join(from, 'a'), join(to, 'none', 'a'));
  expect(sender.outcomes).toMatchObject([{ is: 'failed', error: { code: 'not_found' } }]);
});

test('while a slow disk records a folder, pulses go out; the copy ends once all are recorded', async () => {
  mkdirSync(join(from, 'sub'));
  let pulses = 0;
  const pulse = setInterval(() => pulses++, 20);
  const sentDuring: number[] = [];
  const recorded = (before: number): unknown => sentDuring.push(pulses - before);
  jest.spyOn(fs, 'fsyncSync').mockImplementation(() => {
    const before = pulses;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    recorded(before);
  });
  jest.spyOn(fs, 'fsync').mockImplementation((_, done) => {
    const before = pulses;
    setTimeout(() => (recorded(before), done(null)), 200);
  });
  await copy(from, to);
  clearInterval(pulse);
  // Of the two folders, and of the one that they are in.
  expect(sentDuring).toHaveLength(3);
  expect(Math.min(...sentDuring)).toBeGreaterThan(0);
});

describe('a hostile sender', () => {
  /** Says these, and returns what the receiver made of it. */
  async function say(...messages: (Message | Buffer)[]): Promise<Seen> {
    const [a, b] = await channelPair();
    const seen = new Seen();
    const received = receiveTree(b, { target: pathOf(to), clobber: true, observer: seen });
    received.finally(() => b.close()).catch(() => undefined);
    for (const one of messages)
      await (Buffer.isBuffer(one) ? a.sendData(one) : a.send(one)).catch(() => undefined);
    await a.end();
    await received.catch(() => undefined);
    return seen;
  }
  const entry = (name: string, kind: Entry['kind'], more: Partial<Entry> = {}): Entry => ({
    ...{ is: 'entry', n: 0, name, kind, mode: 0o6777, size: kind === 'file' ? 1 : null },
    ...more,
  });
  const sum = (n: number): Message => ({
    ...{ is: 'sum', n, bytes: 1 },
    sha256: '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881',
  });
  const x = Buffer.from('x');

  test.each(['..', '.', '', '/etc/x', '../x', 'a/b', 'a\0b', 'Ā', 'a'.repeat(300)])(
    'names that could lead elsewhere are refused: %j',
    async (name) => {
      const seen = await say(entry(name, 'file'), x, sum(0), { is: 'end' });
      expect(seen.of('failed')).toHaveLength(1);
      await say(
        entry('d', 'folder'),
        entry(name, 'file', { n: 1 }),
        x,
        sum(1),
        { is: 'leave' },
        { is: 'end' },
      );
      expect(treeOf(to)).toEqual({ '': 'folder 755', '/d': 'folder 777' });
      expect(readdirSync(root).sort()).toEqual(['from', 'to']);
    },
  );

  test('a folder that it first sent as a link is not entered', async () => {
    const outside = join(root, 'outside');
    mkdirSync(outside);
    await say(
      entry('d', 'folder'),
      entry('l', 'link', { n: 1, target: outside }),
      entry('l', 'folder', { n: 2 }),
      entry('x', 'file', { n: 3 }),
      x,
      sum(3),
      { is: 'leave' },
      { is: 'leave' },
      { is: 'end' },
    );
    expect(readdirSync(outside)).toEqual([]);
    expect(readlinkSync(join(to, 'd', 'l'))).toBe(outside);
  });

  test('leaving more folders than it entered ends the transfer', async () => {
    await say(
      entry('d', 'folder'),
      { is: 'leave' },
      { is: 'leave' },
      entry('x', 'file', { n: 1 }),
      x,
      sum(1),
    );
    expect(existsSync(join(root, 'x'))).toBe(false);
    expect(readdirSync(to)).toEqual(['d']);
  });

  test('a second entry at the top, more bytes than it said, and a wrong sum put nothing there', async () => {
    await say(entry('a', 'file'), x, sum(0), entry('b', 'file', { n: 1 }), x, sum(1), { is: 'end' });
    expect(readdirSync(to)).toEqual(['a']);
    await say(entry('c', 'file'), Buffer.from('xx'), { ...sum(0), bytes: 2 } as Message, { is: 'end' });
    const seen = await say(entry('d', 'file'), Buffer.from('y'), sum(0), { is: 'end' });
    expect(seen.outcomes).toMatchObject([{ is: 'failed', error: { code: 'checksum_mismatch' } }]);
    expect(readdirSync(to)).toEqual(['a']);
  });

  test('set-user-ID and set-group-ID bits are not taken over', async () => {
    await say(entry('a', 'file'), x, sum(0), { is: 'end' });
    expect(lstatSync(join(to, 'a')).mode & 0o7777).toBe(0o777);
  });

  test('an id that is a path is refused', async () => {
    await say(entry('a', 'file', { id: '../../x' }), x, sum(0), { is: 'end' });
    expect(readdirSync(to)).toEqual([]);
    expect(readdirSync(root).sort()).toEqual(['from', 'to']);
  });
});
