// The end of an epoch whose terminal's first process was killed from outside: its process id may be another's by then.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as pty from 'node-pty';
import type { TreeKill } from '../../../../contracts/sessions/session';
import { heldOpen } from '../../../../exec/holder/shell/held-open';
import { InputWriter } from '../../../../exec/holder/shell/input-writer';
import { Shell } from '../../../../exec/holder/shell/shell';
import { isRunning } from '../../../../system/processes/proc';

jest.mock('node-pty', () => ({ spawn: jest.fn() }));
jest.mock('../../../../exec/holder/shell/held-open', () => ({ heldOpen: jest.fn() }));

const TREE_KILLS: TreeKill[] = ['pid-namespace', 'user-pid-namespace', 'process-search'];
let folder: string;
const started: ChildProcess[] = [];
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'holdfast-shell-'))));
afterEach(async () => {
  for (const child of started.splice(0).filter(({ pid = 0 }) => isRunning(pid))) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true });
});

/** Its input is a file that nothing else has open. */
function start(env: NodeJS.ProcessEnv = {}): number {
  const child = spawn('sleep', ['60'], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { ...process.env, ...env },
  });
  started.push(child);
  return child.pid as number;
}

/**
 * @param leader stands for the process that got the leader's id later
 * @param fd stands for the file that got the terminal's descriptor number later
 */
function openShell(leader: number, treeKill: TreeKill, fd = -1): { shell: Shell; leaderExits: () => void } {
  let leaderExits = (): void => undefined;
  const terminal = {
    ...{
      pid: leader,
      fd,
      resize: jest.fn(),
      onData: () => undefined,
      pause: () => undefined,
      resume: () => undefined,
    },
    onExit: (listener: () => void) => (leaderExits = listener),
  };
  // The search looks for what has it open: nothing else may.
  jest.mocked(heldOpen).mockReturnValue(openSync(join(folder, 'terminal'), 'w'));
  jest.mocked(pty.spawn).mockReturnValue(terminal as unknown as pty.IPty);
  const shell = new Shell({ directory: join(folder, 'epoch-1'), cwd: folder, env: {}, treeKill });
  return { shell, leaderExits: () => leaderExits() };
}

test.each(TREE_KILLS)(
  'an epoch whose first process is gone ends no process with its id (%s)',
  async (treeKill) => {
    const stranger = start();
    const { shell, leaderExits } = openShell(stranger, treeKill);
    leaderExits();
    expect(shell.foregroundGroup).toBeUndefined();
    expect(await shell.end()).toEqual([]);
    expect(isRunning(stranger)).toBe(true);
  },
);

test('without a namespace, what it had started is found by its mark and ended', async () => {
  const stranger = start();
  const { shell, leaderExits } = openShell(stranger, 'process-search');
  const [name = '', value = ''] = shell.tree.mark.split('=');
  const left = start({ [name]: value });
  leaderExits();
  expect(await shell.end()).toEqual([]);
  expect([isRunning(left), isRunning(stranger)]).toEqual([false, true]);
});

test('a terminal whose first process is gone is neither written to nor resized: its descriptor may be another file', async () => {
  const path = join(folder, 'other');
  const fd = openSync(path, 'w');
  const { shell, leaderExits } = openShell(start(), 'process-search', fd);
  const resize = jest.mocked(pty.spawn).mock.results.at(-1)?.value as { resize: jest.Mock };
  const input = new InputWriter(shell);
  input.raw(Buffer.from('before'));
  shell.resize({ cols: 80, rows: 24 });
  leaderExits();
  input.raw(Buffer.from('after'));
  shell.resize({ cols: 100, rows: 30 });
  expect(shell.ttyPath).toBeUndefined();
  expect(readFileSync(path, 'utf8')).toBe('before');
  expect(resize.resize).toHaveBeenCalledTimes(1);
  await shell.end();
  closeSync(fd);
});
