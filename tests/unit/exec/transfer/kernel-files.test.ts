// Files whose size is not what a read gives: those of /proc say 0, those of /sys a page.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathOf } from '../../../../exec/transfer/names';
import { receiveStream } from '../../../../exec/transfer/receiver/receive-stream';
import { sendTree, type SendOptions } from '../../../../exec/transfer/sender/send-tree';
import { channelPair, copy } from '../../../helpers/hosts/transfers';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'holdfast-kernel-'))));
afterEach(() => rmSync(root, { recursive: true }));

const FILES = [
  '/proc/version',
  '/proc/kallsyms',
  '/proc/filesystems',
  '/sys/kernel/mm/transparent_hugepage/enabled',
].filter((path) => existsSync(path));

test.each(FILES)('a copy of %s is what a read gives', async (path) => {
  const { sender, receiver } = await copy(path, join(root, 'it'));
  const content = readFileSync(path);
  expect(content.length).toBeGreaterThan(0);
  expect(readFileSync(join(root, 'it')).equals(content)).toBe(true);
  for (const side of [sender, receiver])
    expect(side.outcomes.at(-1)).toMatchObject({ is: 'done', bytes: content.length });
});

const WANTED: [string, Partial<SendOptions>][] = [
  ['all', {}],
  ['a part', { range: { from: 2, to: 5 } }],
  ['the sum before', { digest: true }],
];
const ASKED = FILES.flatMap((path) => WANTED.map(([what, more]) => [path, what, more] as const));

test.each(ASKED)(
  'a stream of %s is all of it and names no version: wanted is %s',
  async (path, _what, more) => {
    const [a, b] = await channelPair();
    const sent = sendTree(a, { path: pathOf(path), only: 'file', ...more });
    const { entry, data } = await receiveStream(b);
    expect(entry).toMatchObject({ kind: 'file', size: null });
    for (const absent of ['version', 'range', 'sha256', 'id']) expect(entry).not.toHaveProperty(absent);
    const pieces: Buffer[] = [];
    for await (const piece of data) pieces.push(piece);
    await sent;
    expect(Buffer.concat(pieces).toString()).toBe(readFileSync(path, 'utf8'));
    a.close();
    b.close();
  },
);
