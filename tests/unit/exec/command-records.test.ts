// What a session's folder says of its commands after crashes: which one began last, and that none is forgotten.
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { begunCommand, CommandRecords } from '../../../exec/command-records';
import type { CommandRecord } from '../../../exec/protocol';

let data: string;
let commands: string;
beforeEach(() => {
  data = fs.mkdtempSync(join(tmpdir(), 'holdfast-records-'));
  commands = join(data, 'sessions', 'a.local.0', 'commands');
});
afterEach(() => {
  jest.restoreAllMocks();
  fs.rmSync(data, { recursive: true, force: true });
});

const begun = (id: string, given: Partial<CommandRecord> = {}): CommandRecord => ({
  ...begunCommand({ id, contentHash: id, runtime: 'terminal', epoch: 1, freshShell: false, from: 0 }),
  ...given,
});

/** What is flushed, in order, and how many records had their names by then. */
function watchFlushes(): string[] {
  const flushed: string[] = [];
  const flush = fs.fsyncSync;
  jest.spyOn(fs, 'fsyncSync').mockImplementation((fd) => {
    const records = fs.readdirSync(commands).filter((name) => name.endsWith('.json')).length;
    const name = basename(fs.readlinkSync(`/proc/self/fd/${fd}`)).replace(/^[0-9a-f]{32}.*tmp$/, 'a record');
    flushed.push(`${name}, ${records} named`);
    flush(fd);
  });
  return flushed;
}

test('a command is recorded when its record, the folder with its name, and the new folders around it are flushed', () => {
  const records = new CommandRecords(commands);
  const flushed = watchFlushes();
  records.write(begun('first'));
  expect(flushed.splice(0)).toEqual([
    'a record, 0 named',
    'commands, 1 named',
    'a.local.0, 1 named',
    'sessions, 1 named',
  ]);
  records.write(begun('second'));
  expect(flushed).toEqual(['a record, 1 named', 'commands, 2 named']);
});

test('the end of a command is flushed before it takes the place of its beginning', () => {
  const records = new CommandRecords(commands);
  records.write(begun('one'));
  const flushed = watchFlushes();
  records.settle(begun('one', { endedAt: 2 }));
  expect(flushed).toEqual(['a record, 1 named']);
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
