// Waiting for processes to end.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { gone } from '../../../../exec/processes/signals';

let child: ChildProcess | undefined;
afterEach(async () => {
  jest.restoreAllMocks();
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
});

function start(...command: [string, ...string[]]): number {
  const [program, ...args] = command;
  child = spawn(program, args, { stdio: 'ignore' });
  return child.pid as number;
}

test('programs have their whole time to end, though the clock is set forward meanwhile', async () => {
  const pid = start('sleep', '0.3');
  let hours = 0;
  jest.spyOn(Date, 'now').mockImplementation(() => ++hours * 3_600_000);
  expect(await gone([pid], 10_000)).toEqual([]);
});

test('what does not end is named in time, though the clock is set back meanwhile', async () => {
  const pid = start('sleep', '20');
  let hours = 1_000_000;
  jest.spyOn(Date, 'now').mockImplementation(() => --hours * 3_600_000);
  expect(await gone([pid], 200)).toEqual([pid]);
}, 3_000);
