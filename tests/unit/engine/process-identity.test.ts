import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { endProcess } from '../../../engine/process-end';
import { identityOf, isAlive } from '../../../exec/process-identity';

test('a running process is alive, and its identity stays the same across exec', async () => {
  const child = spawn('/bin/sh', ['-c', 'read -r _; exec sleep 60'], { stdio: ['pipe', 'ignore', 'ignore'] });
  const before = identityOf(child.pid!);
  child.stdin.end('\n');
  expect(isAlive(before)).toBe(true);
  expect(identityOf(child.pid!)).toEqual(before);
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(isAlive(before)).toBe(false);
});

test.each([{ startTime: '1' }, { bootId: 'another boot' }])(
  'the same pid with another %p is not alive',
  (other) => {
    expect(isAlive({ ...identityOf(process.pid), ...other })).toBe(false);
  },
);

test('a process that its parent has not reaped is not alive', async () => {
  // The shell becomes a sleep, which never asks how its child ended.
  const parent = spawn('/bin/sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
  const zombie = identityOf(Number(line));
  expect(isAlive(zombie)).toBe(true);
  await endProcess(zombie, 60_000);
  expect(isAlive(zombie)).toBe(false);
  expect(() => process.kill(zombie.pid, 0)).not.toThrow();
  parent.kill('SIGKILL');
  await once(parent, 'close');
});

test('a process that ignores SIGTERM is killed after the grace', async () => {
  const child = spawn('/bin/sh', ['-c', 'trap "" TERM; echo ready; while :; do sleep 1; done'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  const ended = once(child, 'exit');
  await endProcess(identityOf(child.pid!), 50);
  expect(await ended).toEqual([null, 'SIGKILL']);
});
