// The keyboard of a person who is at a terminal through Temporal, with a session that records what is sent to it.
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { showThroughTemporal } from '../../../cli/terminal/person-through-temporal';
import type { SessionHandle } from '../../../client/session-handle';

const given = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr };
afterEach(() => {
  for (const [name, value] of Object.entries(given)) Object.defineProperty(process, name, { value });
});

/** What is sent until the person has left. */
async function sentFor(...keys: string[]): Promise<unknown[]> {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const write = (_text: string, done?: () => void): boolean => (done?.(), true);
  const stdout = Object.assign(new EventEmitter(), { isTTY: true, columns: 80, rows: 24, write });
  for (const [name, value] of Object.entries({ stdin, stdout, stderr: stdout }))
    Object.defineProperty(process, name, { value, configurable: true });
  const sent: unknown[] = [];
  const session = {
    ref: { agent: 'a', host: 'far', session: 0 },
    // It prints nothing.
    output: () => new Promise(() => undefined),
    input: async ({ keyboard }: { keyboard: string }) => {
      await delay(20);
      sent.push(keyboard);
    },
  } as unknown as SessionHandle;
  const detachKey = { byte: 0x1d, name: 'ctrl-]' };
  const left = showThroughTemporal(session, { types: true, detachKey, from: null, json: false }, 'why');
  for (const chunk of keys) stdin.emit('data', Buffer.from(chunk));
  expect(await left).toEqual({ exitCode: 0 });
  return sent;
}

test('Backspace removes one character, whatever its code', async () => {
  expect(await sentFor('a😀', '\x7f', 'b\r', '\x1d')).toEqual(['ab']);
});

test('lines that were typed before the detach key are sent, in their order', async () => {
  expect(await sentFor('a\rb\r', 'c\r', '\x1d')).toEqual(['a', 'b', 'c']);
});

test('the detach key leaves, also behind an escape sequence that came with it', async () => {
  expect(await sentFor('\x1b[A\x1d')).toEqual([]);
});
