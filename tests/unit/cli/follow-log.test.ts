// What `holdfast exec` prints of its command: live, and the rest once it is over.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { followLog, followRemote, followSession } from '../../../cli/terminal/follow-log';
import type { SessionHandle } from '../../../client/session-handle';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import type { OutputRequest } from '../../../contracts/schemas/session';
import { begunCommand } from '../../../exec/command-records';
import type { CommandRecord } from '../../../exec/protocol';
import type { RemoteTerminal } from '../../../exec/attach/remote-terminal';
import { until } from '../../helpers/until';

const LOG = 'one\ntwo\nthree\n';
const ONE = { from: 0, to: 4, output: 'one\n', omittedBytes: 0 };
const known = { id: 'one', contentHash: '', runtime: 'terminal', epoch: 1, freshShell: false } as const;

let printed: string;
beforeEach(() => {
  printed = '';
  const write = (text: unknown, done: () => void): boolean => ((printed += String(text)), done(), true);
  jest.spyOn(process.stdout, 'write').mockImplementation(write as never);
});
afterEach(() => jest.restoreAllMocks());

/** A session whose log is `LOG`, with an answer of its own for each look that `fails`. */
function session(
  fails: (look: number) => boolean,
  commandId = 'three',
): { handle: SessionHandle; looks: () => number } {
  let looks = 0;
  const output = ({ from = 8, maxBytes = 1_000 }: OutputRequest): Promise<unknown> => {
    if (fails(++looks))
      return Promise.reject(new HoldfastError('host_offline', { host: 'far', waitedMs: 1 }));
    const to = Math.min(LOG.length, from + maxBytes);
    return Promise.resolve({ commandId, from, to, output: LOG.slice(from, to) });
  };
  return { handle: { output } as unknown as SessionHandle, looks: () => looks };
}

test('a host that is away for a while ends nothing: the rest of the output is printed at the end', async () => {
  const { handle, looks } = session((look) => look === 2);
  const follower = followSession(handle, 'three');
  await until(() => looks() >= 2);
  await follower.finish({ from: 8, to: 14, output: '', omittedBytes: 6 });
  expect(printed).toBe('three\n');
});

test('a short output is printed from the answer itself, also while the host is away', async () => {
  const { handle, looks } = session(() => true);
  const follower = followSession(handle, 'one');
  await until(() => looks() >= 1);
  await follower.finish(ONE);
  expect(printed).toBe('one\n');
});

test('of a log on this machine nothing is printed before the command begins, and then from there on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-follow-'));
  const log = join(folder, 'log');
  writeFileSync(log, 'one\n');
  const records: CommandRecord[] = [];
  let looks = 0;
  const follower = followLog(log, () => (looks++, records[0]));
  appendFileSync(log, 'two\n');
  await until(() => looks > 2);
  expect(printed).toBe('');
  records.push(begunCommand({ ...known, from: 8 }));
  appendFileSync(log, 'three\n');
  await until(() => printed === 'three\n');
  await follower.finish({ from: 8, to: 14, output: 'three\n', omittedBytes: 0 });
  rmSync(folder, { recursive: true });
  expect(printed).toBe('three\n');
});

describe('a command that had ended before it is followed, and was sent again, prints its output and nothing behind it', () => {
  test('of a log on this machine', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-follow-'));
    const log = join(folder, 'log');
    writeFileSync(log, LOG);
    await followLog(log, () => ({ ...begunCommand({ ...known, from: 0 }), to: 4, endedAt: 1 })).finish(ONE);
    rmSync(folder, { recursive: true });
    expect(printed).toBe('one\n');
  });

  test.each([
    ['over its connection', false],
    ['through Temporal, once the connection is lost', true],
  ])('of a listening host, %s', async (_, isLost) => {
    const read = (from: number, _waitMs: number, signal: AbortSignal): Promise<unknown> =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('nobody waits')));
        if (isLost) reject(new Error('lost'));
        else if (from < LOG.length) resolve({ from, to: LOG.length, data: Buffer.from(LOG.slice(from)) });
      });
    const terminal = { read, close: () => undefined, ref: { host: 'far' } } as unknown as RemoteTerminal;
    const place = { id: 'one', start: LOG.length };
    const follower = followRemote(terminal, session(() => false).handle, place);
    await follower.finish(ONE);
    expect(printed).toBe('one\n');
  });

  test('of another host, page by page', async () => {
    const { handle } = session(() => false, 'another');
    await followSession(handle, 'one').finish({ ...ONE, output: '', omittedBytes: 4 });
    expect(printed).toBe('one\n');
  });
});
