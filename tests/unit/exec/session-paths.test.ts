import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import {
  parseSessionDirectory,
  sessionPaths,
  sessionsDirectory,
  socketPathFor,
} from '../../../exec/session-paths';

let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'holdfast-paths-'))));
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const INVALID = expect.objectContaining({ code: 'invalid_input' }) as Error;
const LONG = 'a'.repeat(63);

test.each([
  { agent: 'cli', host: 'local', session: 0 },
  { agent: 'a-b_c', host: '0', session: 999_999 },
  { agent: LONG, host: LONG, session: 7 },
])('the folder of $agent on $host/$session is recognised as that session', (ref) => {
  const { directory } = sessionPaths(dataDir, ref);
  expect(dirname(directory)).toBe(sessionsDirectory(dataDir));
  expect(parseSessionDirectory(basename(directory))).toEqual(ref);
});

test('everything of a session is in its folder', () => {
  const { directory, ...rest } = sessionPaths(dataDir, { agent: 'a', host: 'h', session: 1 });
  for (const path of Object.values(rest)) expect(dirname(path)).toBe(directory);
  expect(new Set(Object.values(rest)).size).toBe(Object.keys(rest).length);
});

test.each([
  ['an empty agent', { agent: '', host: 'h', session: 0 }],
  ['a path as agent', { agent: '../../etc', host: 'h', session: 0 }],
  ['a slash', { agent: 'a/b', host: 'h', session: 0 }],
  ['a dot, which parts the names', { agent: 'a.b', host: 'h', session: 0 }],
  ['a NUL', { agent: 'a\0', host: 'h', session: 0 }],
  ['a capital', { agent: 'A', host: 'h', session: 0 }],
  ['64 characters', { agent: `${LONG}a`, host: 'h', session: 0 }],
  ['a line end', { agent: 'a\n', host: 'h', session: 0 }],
  ['a path as host', { agent: 'a', host: '..', session: 0 }],
  ['a negative session', { agent: 'a', host: 'h', session: -1 }],
  ['half a session', { agent: 'a', host: 'h', session: 0.5 }],
  ['a session as text', { agent: 'a', host: 'h', session: '1/../..' as unknown as number }],
])('%s never reaches a path', (_name, ref) => {
  expect(() => sessionPaths(dataDir, ref)).toThrow(INVALID);
});

test.each([
  ...['', 'a', 'a.b', 'a.b.c', 'a.b.', 'a.b.1234567', 'a..1', '.DS_Store', 'a.b.-1'],
  ...['a.b.1.bak', 'a.b.01', 'A.b.1', 'a b.c.1'],
])('the folder %j is not a session', (name) => {
  expect(parseSessionDirectory(name)).toBeUndefined();
});

describe('a socket', () => {
  const socketOf = (data: string, agent: string, host = 'h', session = 0): string =>
    socketPathFor(data, sessionPaths(data, { agent, host, session }).directory);

  test('is never shared by two long ids, not even of the same beginning', () => {
    const sockets = ['a', 'b', 'c'].flatMap((last) =>
      [0, 1].flatMap((session) =>
        [LONG, 'x'].map((host) => socketOf(dataDir, `${'a'.repeat(62)}${last}`, host, session)),
      ),
    );
    expect(new Set(sockets).size).toBe(12);
  });

  test('is not shared by ids whose joined text is the same', () => {
    expect(socketOf(dataDir, 'a-b', 'c')).not.toBe(socketOf(dataDir, 'a', 'b-c'));
  });

  test('fits the limit of the kernel in a deep data folder too, and differs between data folders', () => {
    const deep = ['one', 'two'].map((name) => join(dataDir, 'd'.repeat(90), name));
    const sockets = deep.map((data) => socketOf(data, LONG, LONG));
    for (const path of sockets) expect(Buffer.byteLength(path)).toBeLessThanOrEqual(100);
    expect(sockets[0]).not.toBe(sockets[1]);
  });

  test('is in a folder that only its user may enter', () => {
    expect(statSync(dirname(socketOf(dataDir, 'a'))).mode & 0o777).toBe(0o700);
  });

  test('is refused in a folder that others may enter', () => {
    mkdirSync(join(dataDir, 'sockets'));
    chmodSync(join(dataDir, 'sockets'), 0o755);
    expect(() => socketOf(dataDir, 'a')).toThrow(/not private to this user/);
  });
});
