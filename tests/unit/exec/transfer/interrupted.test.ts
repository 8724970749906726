// What an interrupted transfer leaves, and how the next one goes on.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createHash, randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathOf } from '../../../../exec/transfer/names';
import { receiveStream } from '../../../../exec/transfer/receiver/receive-stream';
import { receiveTree } from '../../../../exec/transfer/receiver/receive-tree';
import { sendStream } from '../../../../exec/transfer/sender/send-stream';
import { sendTree } from '../../../../exec/transfer/sender/send-tree';
import { smallDisk } from '../../../integration/exec/output/small-disk';
import { channelPair, copy, Seen, treeOf } from '../../../helpers/hosts/transfers';

const SIZE = 6_000_000;
let root: string;
let from: string;
let to: string;
let file: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-transfer-'));
  from = join(root, 'from');
  to = join(root, 'to');
  mkdirSync(from);
  mkdirSync(to);
  file = join(from, 'file');
  writeFileSync(file, randomBytes(SIZE));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Sends the file, and cuts the connection once the receiver has this many bytes. */
async function copyUntil(bytes: number, target = to): Promise<void> {
  const [a, b] = await channelPair();
  const seen = new Seen();
  seen.moved = (moved) => {
    seen.bytes += moved;
    if (seen.bytes >= bytes) b.close();
  };
  const received = receiveTree(b, { target: pathOf(target), clobber: true, observer: seen });
  const sent = sendTree(a, { path: pathOf(file) });
  await Promise.allSettled([received, sent]);
  a.close();
}
const left = (): string[] => readdirSync(to).filter((name) => name.startsWith('.holdfast-'));

test('a transfer goes on where it stopped: what is there is not sent again', async () => {
  await copyUntil(4_000_000);
  expect(existsSync(join(to, 'file'))).toBe(false);
  expect(left()).toHaveLength(1);
  const had = statSync(join(to, left()[0] ?? '')).size;
  expect(had).toBeGreaterThanOrEqual(4_000_000);
  const { sender, receiver } = await copy(file, to);
  expect(sender.bytes).toBe(SIZE - had);
  expect(receiver.thereBefore).toBe(had);
  expect(readdirSync(to)).toEqual(['file']);
  expect(readFileSync(join(to, 'file')).equals(readFileSync(file))).toBe(true);
});

test.each([
  ['a folder', '', ''],
  ['the content of a folder', '/.', 'new'],
])('a copy of %s that is started again leaves the modes of the source', async (_what, dot, name) => {
  mkdirSync(join(from, 'sub'));
  renameSync(file, join(from, 'sub', 'file'));
  for (const folder of [join(from, 'sub'), from]) chmodSync(folder, 0o555);
  const target = join(to, name);
  const arrived = join(to, name || 'from');
  try {
    const [a, b] = await channelPair();
    const seen = new Seen();
    seen.moved = () => b.close();
    const received = receiveTree(b, { target: pathOf(target), clobber: true, observer: seen });
    await Promise.allSettled([received, sendTree(a, { path: pathOf(from + dot) })]);
    a.close();
    expect(existsSync(join(arrived, 'sub'))).toBe(true);
    expect(existsSync(join(arrived, 'sub', 'file'))).toBe(false);
    await copy(from + dot, target);
    expect(treeOf(arrived)).toEqual(treeOf(from));
    expect(statSync(arrived).mode & 0o7777).toBe(0o555);
  } finally {
    execFileSync('chmod', ['-R', 'u+rwx', root]);
  }
});

test.each([
  ['0755', 0o755, 0o555],
  ['1777, as /tmp has it', 0o1777, 0o777],
  ['1755', 0o1755, 0o755],
])('a folder that was there keeps its mode: %s', async (_what, own, source) => {
  chmodSync(from, source);
  mkdirSync(join(to, 'from'));
  chmodSync(join(to, 'from'), own);
  await copy(from, to);
  expect(statSync(join(to, 'from')).mode & 0o7777).toBe(own);
  chmodSync(from, 0o755);
});

test('little is not kept, and nothing is left of it', async () => {
  await copyUntil(200_000);
  expect(readdirSync(to)).toEqual([]);
});

test('what is there is used only as far as its bytes are the file’s', async () => {
  await copyUntil(3_000_000);
  const [part = ''] = left();
  const spoilt = readFileSync(join(to, part));
  spoilt[1_000_000] = (spoilt[1_000_000] ?? 0) ^ 1;
  writeFileSync(join(to, part), spoilt);
  const { sender } = await copy(file, to);
  expect(sender.bytes).toBe(SIZE);
  expect(readFileSync(join(to, 'file')).equals(readFileSync(file))).toBe(true);
});

test.each([
  ['a link', (part: string) => symlinkSync(join(root, 'theirs'), part)],
  ['a file with a second name', (part: string) => linkSync(join(root, 'theirs'), part)],
  ['a file that is too long', (part: string) => writeFileSync(part, Buffer.alloc(SIZE + 1))],
])('somebody else’s %s under its name is not written to', async (_what, plant) => {
  await copyUntil(2_000_000);
  const part = join(to, left()[0] ?? '');
  rmSync(part);
  writeFileSync(join(root, 'theirs'), 'mine');
  plant(part);
  await copy(file, to);
  expect(readFileSync(join(root, 'theirs'), 'utf8')).toBe('mine');
  expect(statSync(join(root, 'theirs')).nlink).toBe(1);
  expect(readdirSync(to)).toEqual(['file']);
  expect(readFileSync(join(to, 'file')).equals(readFileSync(file))).toBe(true);
});

test('what a killed receiver has left under its own name is found once nobody writes it', async () => {
  await copyUntil(3_000_000);
  const [part = ''] = left();
  renameSync(join(to, part), join(to, part.replace('.part', '.0123abcd.part')));
  const { sender } = await copy(file, to);
  expect(sender.bytes).toBeLessThan(SIZE - 2_900_000);
  expect(readdirSync(to)).toEqual(['file']);
});

test('two transfers to one target at once: each succeeds, and one whole file is there', async () => {
  const other = join(root, 'file');
  writeFileSync(other, randomBytes(SIZE));
  await Promise.all([copy(file, join(to, 'it')), copy(file, join(to, 'it')), copy(other, join(to, 'it'))]);
  expect(readdirSync(to)).toEqual(['it']);
  const content = readFileSync(join(to, 'it'));
  expect(content.equals(readFileSync(file)) || content.equals(readFileSync(other))).toBe(true);
});

/** Calls `change` when this many bytes were sent, each time or the first. */
async function copyWhile(change: () => void, times: number): Promise<Seen> {
  const [a, b] = await channelPair();
  const seen = new Seen();
  let at = 0;
  let changed = 0;
  seen.began = () => (at = 0);
  seen.moved = (bytes) => {
    if (at < 1_000_000 && at + bytes >= 1_000_000 && changed++ < times) change();
    at += bytes;
  };
  const received = receiveTree(b, { target: pathOf(to), clobber: true });
  await Promise.all([received, sendTree(a, { path: pathOf(file), observer: seen })]);
  a.close();
  return seen;
}

test('a file that changes while it is read is read again', async () => {
  const seen = await copyWhile(() => appendFileSync(file, 'more'), 1);
  expect(seen.of('done')).toEqual(['file']);
  expect(readFileSync(join(to, 'file')).equals(readFileSync(file))).toBe(true);
});

test.each([
  ['grows', () => appendFileSync(file, 'more')],
  ['shrinks', () => truncateSync(file, statSync(file).size - 1_000)],
  ['is touched', () => utimesSync(file, new Date(), new Date())],
])('a file that %s each time fails clearly, and nothing of it is left', async (_how, change) => {
  const seen = await copyWhile(change, 9);
  expect(seen.outcomes).toMatchObject([
    { is: 'failed', path: 'file', error: { code: 'file_changed', facts: { attempts: 3 } } },
  ]);
  expect(readdirSync(to)).toEqual([]);
});

const disk = smallDisk(4);
(disk ? test : test.skip)(
  'on a full disk the transfer ends with its reason, and leaves room for others',
  async () => {
    if (!disk) return;
    try {
      await expect(copy(from, disk.path)).rejects.toMatchObject({
        code: 'storage_failed',
        next: 'Free space on that disk, then copy it again.',
      });
      expect(readdirSync(join(disk.path, 'from'))).toEqual([]);
    } finally {
      disk.unmount();
    }
  },
);

test('the last bytes of a stream come only when its sum is right', async () => {
  const [a, b] = await channelPair();
  const name = { is: 'entry', n: 0, name: 'it', kind: 'file', mode: 0o644, size: 8 } as const;
  await a.send(name);
  await a.sendData(Buffer.from('first'));
  await a.sendData(Buffer.from('last'));
  await a.send({ is: 'sum', n: 0, sha256: '0'.repeat(64), bytes: 9 });
  const { data } = await receiveStream(b);
  let got = '';
  const read = async (): Promise<void> => {
    for await (const piece of data) got += piece.toString();
  };
  await expect(read()).rejects.toMatchObject({ code: 'checksum_mismatch' });
  expect('firstlast'.startsWith(got) && got !== 'firstlast').toBe(true);
  a.close();
  b.close();
});

test('a stream that breaks off puts nothing there; with its sum it goes on from any byte that is there', async () => {
  const content = readFileSync(file);
  const [a, b] = await channelPair();
  async function* broken(): AsyncGenerator<Buffer> {
    yield content.subarray(0, 2_000_000);
    await Promise.resolve();
    throw new Error('the client is gone');
  }
  const sha256 = createHash('sha256').update(content).digest('hex');
  const target = { target: pathOf(join(to, 'it')), clobber: true };
  const received = receiveTree(b, target);
  received.catch(() => undefined);
  await expect(sendStream(a, { name: 'it', data: broken(), size: SIZE, sha256 })).rejects.toThrow('gone');
  a.close();
  await received.catch(() => undefined);
  expect(existsSync(join(to, 'it'))).toBe(false);
  const rest = async (offset: number, sum: string): Promise<unknown> => {
    const [c, d] = await channelPair();
    const again = receiveTree(d, target);
    again.catch(() => undefined);
    async function* bytes(): AsyncGenerator<Buffer> {
      yield await Promise.resolve(content.subarray(offset));
    }
    return sendStream(c, { name: 'it', data: bytes(), size: SIZE, sha256: sum, offset }).finally(() =>
      c.close(),
    );
  };
  await expect(rest(3_000_000, sha256)).rejects.toMatchObject({ code: 'upload_offset' });
  expect(await rest(1_500_000, sha256)).toMatchObject({ is: 'done', bytes: SIZE, sha256 });
  expect(readFileSync(join(to, 'it')).equals(content)).toBe(true);
  expect(
    await rest(
      0,
      sha256.replace(/^./, (char) => (char === '0' ? '1' : '0')),
    ),
  ).toMatchObject({
    is: 'failed',
    error: { code: 'checksum_mismatch' },
  });
});
