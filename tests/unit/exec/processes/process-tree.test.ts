// The search for a session's processes, beside terminals of containers, which have the same names.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as pty from 'node-pty';
import { killTree } from '../../../../exec/processes/process-tree';
import { shellAsset } from '../../../../system/package-root';
import { isRunning, readLink } from '../../../../system/processes/proc';
import { until } from '../../../helpers/until';

const CONTAINER = ['--user', '--map-root-user', '--mount', 'sh', '-c'];
const MOUNT = 'mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts';
const canMount = spawnSync('unshare', [...CONTAINER, MOUNT]).status === 0;
/** Opens terminals until one has the wanted number (ioctl_tty(2): TIOCGPTN, TIOCSPTLCK), and keeps that open. */
const OPEN = `
import fcntl, os, struct, sys, time
number = -1
while number < int(sys.argv[1]):
    master = os.open('/dev/pts/ptmx', os.O_RDWR | os.O_NOCTTY)
    number, = struct.unpack('i', fcntl.ioctl(master, 0x80045430, bytes(4)))
    fcntl.ioctl(master, 0x40045431, bytes(4))
slave = os.open('/dev/pts/%d' % number, os.O_RDWR | os.O_NOCTTY)
print(os.readlink('/proc/self/fd/%d' % slave), flush=True)
time.sleep(60)
`;

let stranger: ChildProcess | undefined;
afterEach(async () => {
  if (!stranger || stranger.exitCode !== null || stranger.signalCode !== null) return;
  stranger.kill('SIGKILL');
  await once(stranger, 'exit');
});

const textFrom = (data: (listener: (data: unknown) => void) => unknown): Promise<string> =>
  new Promise((resolve) => data((text) => resolve(String(text).trim())));

(canMount ? test : test.skip)(
  'what has the terminal open is ended, a program of a container with a terminal of that name is not',
  async () => {
    // An orphan in a session of its own: only the terminal shows whose it is.
    const terminal = pty.spawn('sh', ['-c', '(setsid sleep 60 & echo $!); exec sleep 60'], {});
    const escaped = Number(await textFrom((listener) => terminal.onData(listener)));
    const name = readLink(`/proc/${terminal.pid}/fd/0`) ?? '';
    const inside = `${MOUNT} && exec python3 -c "$0" "$1"`;
    stranger = spawn('unshare', [...CONTAINER, inside, OPEN, name.slice('/dev/pts/'.length)]);
    expect(await textFrom((listener) => stranger?.stdout?.once('data', listener))).toBe(name);
    const tree = { kind: 'process-search', mark: 'MARK=none', ownShell: 'none' } as const;
    expect(await killTree({ ...tree, leader: terminal.pid })).toEqual([]);
    const pids = [terminal.pid, escaped, stranger.pid as number];
    expect(pids.map(isRunning)).toEqual([false, false, true]);
  },
);

test('a shell does not begin in a terminal that is gone: the end of its holder ends nothing any more', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-init-'));
  writeFileSync(join(folder, 'fence'), 'fence\n');
  const [ran, over] = [join(folder, 'ran'), join(folder, 'over')];
  // As a child that was forked when the holder died, and gets no signal for it.
  const late =
    'trap "" HUP; echo up; while [ -t 0 ]; do sleep 0.02; done; sh "$0" "$1" touch "$2"; touch "$3"';
  const terminal = pty.spawn('sh', ['-c', late, shellAsset('init.sh'), folder, ran, over], {});
  await textFrom((listener) => terminal.onData(listener));
  (terminal as pty.IPty & { destroy(): void }).destroy();
  await until(() => existsSync(over));
  expect(existsSync(ran)).toBe(false);
  rmSync(folder, { recursive: true });
});
