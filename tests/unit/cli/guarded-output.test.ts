// What reaches the person's terminal, whoever wrote it.
import { Writable } from 'node:stream';
import type { CommandView } from '../../../contracts/session';
import { guardOutput, harmless, letDraw } from '../../../cli/guarded-output';
import { factsOf } from '../../../cli/view-facts';

const HOSTILE = 'x\x1b]0;title\x07\x1b[2J\x9b1m\u202egnp.exe\u2069\u200b\r\x7f';
/* eslint-disable no-control-regex -- control characters are the point */
const ACTIVE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069]/;

const view: CommandView = {
  session: 0,
  commandId: 'c',
  state: 'exited',
  exitCode: null,
  signal: 'SIGKILL',
  killedBy: { by: 'reset', reason: HOSTILE },
  output: '',
  from: 0,
  to: 0,
  omittedBytes: 0,
  epoch: 1,
  freshShell: false,
  yielded: null,
  waiting: null,
  treeKill: 'pid-namespace',
  degraded: null,
  survivors: [],
  durationMs: 1,
};

test('the reason of an end that a host tells is one line of inert text', () => {
  expect(factsOf(view)).toContain('ended by reset (x\\u{1b}]0;title');
  expect(factsOf(view)).not.toMatch(ACTIVE);
});

test('whatever is written to a guarded stream comes out inert, with colours and line ends as they are', () => {
  const written: string[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => (written.push(chunk.toString()), done()),
  });
  guardOutput([stream as unknown as NodeJS.WriteStream]);
  stream.write(`${HOSTILE}\n`);
  stream.write('\x1b[31mred\x1b[39m\n');
  letDraw();
  stream.write('\x1b[2J');
  expect(written[0]).not.toMatch(ACTIVE);
  expect(written.slice(1)).toEqual(['\x1b[31mred\x1b[39m\n', '\x1b[2J']);
  expect(harmless('\x1b[1;31mx')).toBe('\x1b[1;31mx');
});
