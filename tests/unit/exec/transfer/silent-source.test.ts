// A source that says nothing for as long as it likes: standard input, for example.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathOf } from '../../../../exec/transfer/names';
import { receiveTree } from '../../../../exec/transfer/receiver/receive-tree';
import { sendStream } from '../../../../exec/transfer/sender/send-stream';
import { channelPair } from '../../../helpers/hosts/transfers';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'holdfast-silent-'))));
afterEach(() => rmSync(root, { recursive: true }));

async function* silent(...pieces: string[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
  await new Promise(() => undefined);
}

test.each([[[]], [['first']]])(
  'a refusal ends the transfer while no bytes come (after %j)',
  async (pieces: string[]) => {
    mkdirSync(join(root, 'taken', 'name'), { recursive: true });
    const [a, b] = await channelPair();
    const received = receiveTree(b, { target: pathOf(join(root, 'taken')), clobber: true, only: 'file' });
    expect(await sendStream(a, { name: 'name', data: silent(...pieces), size: null })).toMatchObject({
      is: 'failed',
    });
    await received;
    a.close();
    b.close();
  },
);

test.each(['host', 'person'])('a %s that goes ends the transfer while no bytes come', async (who) => {
  const [a, b] = await channelPair();
  const received = receiveTree(b, { target: pathOf(join(root, 'new')), clobber: true });
  received.catch(() => undefined);
  const sent = sendStream(a, { name: 'name', data: silent('first'), size: null });
  setTimeout(() => (who === 'host' ? b : a).close(), 50);
  await expect(sent).rejects.toMatchObject({ name: 'ChannelLost' });
  a.close();
  b.close();
});
