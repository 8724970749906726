// Folders that cannot be used: what people read about them.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';

const BIN = join(packageRoot(), 'bin', 'holdfast.js');

// Only for its command lines.
const engine = new EngineOfItsOwn();
const files = mkdtempSync(join(tmpdir(), 'holdfast-in-the-way-'));
afterAll(async () => {
  rmSync(files, { recursive: true, force: true });
  expect(await engine.end()).toEqual([]);
});

test.each(['file', 'file/sub', 'dangling'])(
  'a data folder at %s is refused before anything is started',
  async (name) => {
    writeFileSync(join(files, 'file'), '');
    rmSync(join(files, 'dangling'), { force: true });
    symlinkSync(join(files, 'nowhere'), join(files, 'dangling'));
    for (const command of ['up', 'ps', 'down', 'logs']) {
      const { code, stderr } = await engine.cliInTurn([command, '--data', join(files, name)]);
      expect([code, stderr]).toEqual([
        64,
        expect.stringContaining(`The data folder is invalid: got ${join(files, name)}`),
      ]);
    }
  },
);

test.each([
  ['--data', ['down', '--sessions']],
  ['--config', ['up']],
  ['--address', ['ps']],
  ['--namespace', ['ps']],
  ['--profile', ['ps']],
  ['--workdir', ['up']],
  ['--root', ['host', 'serve', 'far']],
  ['--cwd', ['run', '--model', 'scripted:x.yaml', 'task']],
  ['--token-file', ['attach']],
])('an empty %s is refused, and nothing else is taken for it', async (option, command) => {
  const { code, stdout, stderr } = await engine.cliInTurn([...command, option, '']);
  expect([code, stdout]).toEqual([64, '']);
  expect(stderr).toContain(`invalid_input: ${option} is invalid: got an empty text`);
});

test('a data folder where no folder can be made is refused at once', async () => {
  for (const command of [['up'], ['token', 'create', 'a', '--role', 'viewer']]) {
    const { code, stderr } = await engine.cliInTurn([...command, '--data', '/proc/holdfast']);
    expect([code, stderr]).toEqual([74, expect.stringContaining('no folder can be made there')]);
  }
}, 30_000);

test('`doctor` tells all it has checked also of a data folder that cannot be made', async () => {
  const { code, stdout } = await engine.cliInTurn(['doctor', '--json', '--data', '/proc/holdfast']);
  expect(code).toBe(69);
  expect(JSON.parse(stdout)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: 'Node', status: 'ok' }),
      expect.objectContaining({ name: 'private sockets', status: 'fail' }),
      expect.objectContaining({ name: 'disk', status: 'fail' }),
    ]),
  );
}, 30_000);

test('a working folder that was deleted is told as that, and is no bug', async () => {
  const line = 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$1" "$2" cp a b:c';
  const gone = join(files, 'gone');
  const [code, stderr] = await new Promise<[number | null, string]>((resolve) => {
    const child = execFile('/bin/sh', ['-c', line, gone, process.execPath, BIN], (_err, _out, err) =>
      resolve([child.exitCode, err]),
    );
  });
  expect(stderr).toContain(
    `no_working_folder: The working folder cannot be used: got ${gone}, which was deleted`,
  );
  expect(code).toBe(65);
});

test('`down` does not claim of what it could not look at that it was not running', async () => {
  const dataDir = join(files, 'unreadable');
  mkdirSync(dataDir);
  // Reading it is an I/O error, for any user.
  symlinkSync('/proc/self/mem', join(dataDir, 'worker.json'));
  const down = await engine.cliInTurn(['down', '--data', dataDir]);
  expect(down.stdout).toBe('server was not running, worker unknown, 0 sessions live on\n');
  expect(down.stderr).toMatch(/^holdfast: storage_failed: /);
  expect(down.code).toBe(74);
  const { stdout } = await engine.cliInTurn(['down', '--json', '--data', dataDir]);
  expect(JSON.parse(stdout)).toMatchObject({
    server: false,
    worker: null,
    problems: [{ code: 'storage_failed' }],
  });
});
