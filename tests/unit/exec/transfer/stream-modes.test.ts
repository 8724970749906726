// The mode of a file whose content comes from no file: of standard input, or of the body of a request.
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'holdfast-modes-'))));
afterEach(() => rmSync(root, { recursive: true }));

/** Loaded under another umask than the usual one: a host reads it once. */
const PRIVATE = 0o077;
const usual = process.umask(PRIVATE);
afterAll(() => process.umask(usual));

/** The mode of the file afterwards. */
async function upload(name: string): Promise<string> {
  const { channelPair } = await import('../../../helpers/hosts/transfers');
  const { pathOf } = await import('../../../../exec/transfer/names');
  const { receiveTree } = await import('../../../../exec/transfer/receiver/receive-tree');
  const { sendStream } = await import('../../../../exec/transfer/sender/send-stream');
  const [a, b] = await channelPair();
  async function* data(): AsyncGenerator<Buffer> {
    yield await Promise.resolve(Buffer.from('new'));
  }
  const received = receiveTree(b, { target: pathOf(join(root, name)), clobber: true });
  try {
    expect(await sendStream(a, { name: 'stdin', data: data(), size: null })).toMatchObject({ is: 'done' });
    await received;
  } finally {
    a.close();
    b.close();
  }
  expect(readFileSync(join(root, name), 'utf8')).toBe('new');
  return (statSync(join(root, name)).mode & 0o7777).toString(8);
}

test.each([
  ['a private file stays private', 0o600, '600'],
  ['a script stays executable', 0o755, '755'],
  ['new content never runs with the rights of the file that it replaces', 0o4755, '755'],
])('of a file that an upload replaces, %s', async (_what, mode, after) => {
  writeFileSync(join(root, 'file'), 'old');
  chmodSync(join(root, 'file'), mode);
  expect(await upload('file')).toBe(after);
});

test('the mode of a file that an upload makes obeys the umask of the host', async () => {
  expect(await upload('fresh')).toBe((0o666 & ~PRIVATE).toString(8));
});
