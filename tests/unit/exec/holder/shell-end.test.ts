// The end of an epoch whose terminal's first process was killed from outside: its process id may be another's by then.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as pty from 'node-pty';
import type { TreeKill } from '../../../../contracts/sessions/session';
import { heldOpen } from '../../../../exec/holder/shell/held-open';
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

/** @param leader stands for the process that got the leader's id later */
function openShell(leader: number, treeKill: TreeKill): { shell: Shell; leaderExits: () => void } {
  let leaderExits = (): void => undefined;
  const terminal = {
    ...{ pid: leader, onData: () => undefined, pause: () => undefined, resume: () => undefined },
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
