// What the other side of a connection sends, which may be a host that others control, never harms this process.
import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { HolderClient } from '../../../../exec/client/holder-client';

/** What `JSON.parse` makes of it is none of our own facts: it cannot be shown as text. */
const FACTS = { reason: { toString: 0, valueOf: 0 } };

function connected(): { client: HolderClient; say: (frame: unknown) => void } {
  const other = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const say = (frame: unknown): void => {
    const body = Buffer.from(JSON.stringify(frame));
    const head = Buffer.alloc(4);
    head.writeUInt32BE(body.length);
    // Read at once, so that an error is thrown here.
    other.emit('data', Buffer.concat([head, body]));
  };
  return { client: new HolderClient(other as Socket, ''), say };
}

test.each([
  ['null', null],
  ['a number', 5],
  ['a text', 'x'],
  ['an object without an id', {}],
  ['a list', []],
  ['an error whose facts cannot be shown', { id: 1, error: { code: 'internal', facts: FACTS } }],
])(
  'a frame that is no answer ends its connection and the requests on it, and nothing else: %s',
  async (_what, frame) => {
    const { client, say } = connected();
    const pending = client.request('status', {});
    say(frame);
    await expect(pending).rejects.toThrow('the holder closed the connection');
    expect(client.isOpen).toBe(false);
  },
);

test('an answer to a request that nobody waits for any more is ignored', async () => {
  const { client, say } = connected();
  const pending = client.request('status', {});
  say({ id: 7, ok: 'late' });
  say({ id: 1, ok: 'in time' });
  expect(await pending).toBe('in time');
});
