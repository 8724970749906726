import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { showTerminal } from '../../../cli/terminal/person-at-terminal';
import type { Attachment } from '../../../exec/attach/attachment';

/** A place at a terminal whose holder answers each key and each size with an error. */
function failingPlace(): { place: Attachment; calls: string[] } {
  const calls: string[] = [];
  let leave = (): void => undefined;
  const closed = new Promise<void>((resolve) => (leave = resolve));
  const fail = (what: string) => (): Promise<never> => {
    calls.push(what);
    return Promise.reject(new Error(`no ${what}`));
  };
  const place = {
    state: { end: 0, epoch: 1, running: 'c', typist: 'me', size: { cols: 80, rows: 24 } },
    read: () => Promise.resolve(Buffer.alloc(0)),
    // eslint-disable-next-line require-yield -- a session that prints nothing
    async *changes() {
      await closed;
    },
    type: fail('type'),
    resize: fail('resize'),
    close: () => leave(),
  };
  return { place: place as unknown as Attachment, calls };
}

const given = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr };
afterEach(() => {
  for (const [name, value] of Object.entries(given)) Object.defineProperty(process, name, { value });
});

test('what cannot be typed rings the bell, and a size that cannot be set ends nothing', async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const written: string[] = [];
  const write = (text: string, done?: () => void): boolean => {
    written.push(text);
    done?.();
    return true;
  };
  const stdout = Object.assign(new EventEmitter(), { isTTY: true, columns: 80, rows: 24, write });
  for (const [name, value] of Object.entries({ stdin, stdout, stderr: stdout }))
    Object.defineProperty(process, name, { value, configurable: true });
  const { place, calls } = failingPlace();
  const detachKey = { byte: 0x1d, name: 'ctrl-]' };
  const shown = showTerminal(place, { types: true, detachKey, from: 0, json: false });
  stdout.emit('resize');
  Object.assign(stdout, { columns: 0, rows: 0 }).emit('resize');
  stdin.write('x');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(calls).toEqual(['resize', 'type']);
  expect(written).toContain('\x07');
  stdin.write('\x1d');
  await shown;
});
