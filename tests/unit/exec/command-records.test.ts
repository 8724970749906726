// What a session's folder says of its commands after crashes: which one began last, and that none is forgotten.
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { begunCommand, checkContent, CommandRecords, nextEpoch } from '../../../exec/command-records';
import { deadSnapshot } from '../../../exec/host/holders/dead-session';
import type { CommandRecord } from '../../../exec/protocol';
import { sessionPaths } from '../../../exec/session-paths';

let data: string;
let commands: string;
beforeEach(() => {
  data = fs.mkdtempSync(join(tmpdir(), 'holdfast-records-'));
  commands = join(data, 'sessions', 'a.local.0', 'commands');
  fs.mkdirSync(join(commands, '..'), { recursive: true });
});
afterEach(() => {
  jest.restoreAllMocks();
  fs.rmSync(data, { recursive: true, force: true });
});

const begun = (id: string, given: Partial<CommandRecord> = {}): CommandRecord => ({
  ...begunCommand({ id, contentHash: id, runtime: 'terminal', epoch: 1, freshShell: false, from: 0 }),
  ...given,
});

/** The folders that are flushed, in order, and how many records had their names by then. */
function watchFlushes(): string[] {
  const flushed: string[] = [];
  const flush = fs.fsyncSync;
  jest.spyOn(fs, 'fsyncSync').mockImplementation((fd) => {
    const records = fs.readdirSync(commands).filter((name) => name.endsWith('.json')).length;
    flushed.push(`${basename(fs.readlinkSync(`/proc/self/fd/${fd}`))}, ${records} named`);
    flush(fd);
  });
  return flushed;
}

test('a command is recorded when the folder with its name, and the new folders around it, are flushed', () => {
  const records = new CommandRecords(commands);
  const flushed = watchFlushes();
  records.write(begun('first'));
  expect(flushed.splice(0)).toEqual(['commands, 1 named', 'a.local.0, 1 named', 'sessions, 1 named']);
  records.write(begun('second'));
  expect(flushed).toEqual(['commands, 2 named']);
});

test('a session that was deleted does not come back with the record of its command', () => {
  const records = new CommandRecords(commands);
  const runs = begun('runs');
  records.write(runs);
  fs.rmSync(join(commands, '..'), { recursive: true });
  records.settle({ ...runs, endedAt: 5_000 });
  expect(records.fault).toMatch(/a\.local\.0 was deleted/);
  expect(() => records.write(begun('next'))).toThrow(HoldfastError);
  expect(fs.readdirSync(join(data, 'sessions'))).toEqual([]);
});

test.each(['', '{"id":'])('a command whose record is damaged (%j) is lost, whatever its content', (left) => {
  new CommandRecords(commands).write(begun('one'));
  for (const name of fs.readdirSync(commands)) fs.writeFileSync(join(commands, name), left);
  const record = new CommandRecords(commands).read('one');
  expect(record).toMatchObject({ id: 'one', lost: true, killedBy: { by: 'host_lost' } });
  expect(record?.endedAt).not.toBeNull();
  expect(() => checkContent(record as CommandRecord, 'any')).not.toThrow();
  expect(new CommandRecords(commands).read('another')).toBeUndefined();
});

test('a folder that cannot be flushed, as on some network file systems, refuses no command; a failing disk does', () => {
  const records = new CommandRecords(commands);
  const failing = (code: string): void => {
    jest.spyOn(fs, 'fsyncSync').mockImplementation((fd) => {
      if (fs.fstatSync(fd).isDirectory()) throw Object.assign(new Error(code), { code, syscall: 'fsync' });
    });
  };
  failing('EINVAL');
  expect(() => records.write(begun('one'))).not.toThrow();
  failing('EIO');
  expect(() => records.write(begun('two'))).toThrow(HoldfastError);
});

const ENDED = { endedAt: 5_000, to: 9 };
test.each<[string, Partial<CommandRecord>, Partial<CommandRecord>]>([
  ['printed something', ENDED, { from: 9 }],
  ['printed nothing', { ...ENDED, to: 0 }, {}],
  ['belongs to an earlier shell', ENDED, { epoch: 2 }],
])(
  'the command that runs is the last one, though the clock was set back and the one before %s',
  (_, one, two) => {
    const records = new CommandRecords(commands);
    records.write(begun('before', { startedAt: 4_000, ...one }));
    records.write(begun('runs', { startedAt: 1_000, ...two }));
    expect(new CommandRecords(commands).latest()).toMatchObject({ id: 'runs', endedAt: null });
  },
);

test.each([
  ['was removed', undefined, 3],
  ['was emptied by a power failure', '', 3],
  ['is behind', '1', 3],
  ['names an epoch without a command', '5', 6],
])(
  'the next epoch is one that no command of the session had, also if the file that names it %s',
  (_what, content, next) => {
    const paths = sessionPaths(data, { agent: 'a', host: 'local', session: 0 });
    const records = new CommandRecords(paths.commands);
    records.write(begun('old'));
    records.write(begun('last', { epoch: 2 }));
    if (content !== undefined) fs.writeFileSync(paths.epoch, content);
    expect(nextEpoch(paths, records.latest())).toBe(next);
    expect(deadSnapshot(paths, { sandbox: null } as never).epoch).toBe(next);
  },
);
