import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { isPortFree } from '../../../engine/ports';
import { endGroup } from '../../../system/processes/process-end';
import { identityOf, isAlive, type Identity } from '../../../system/processes/process-identity';

/** Looks without a pause, so that the first moment at which it counts as gone is the one that is seen. */
function waitForEnd(identity: Identity): void {
  const deadline = Date.now() + 5_000;
  while (isAlive(identity))
    if (Date.now() > deadline) throw new Error(`process ${identity.pid} is still alive`);
}

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
  // The shell becomes a cat, which never asks how its child ended; what it echoes says that it has become one.
  const script = 'sleep 60 & echo $!; exec cat';
  const parent = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'] });
  parent.stdin.write('exec done\n');
  const lines = createInterface({ input: parent.stdout })[Symbol.asyncIterator]();
  const zombie = identityOf(Number((await lines.next()).value));
  expect((await lines.next()).value).toBe('exec done');
  expect(isAlive(zombie)).toBe(true);
  process.kill(zombie.pid, 'SIGKILL');
  waitForEnd(zombie);
  expect(() => process.kill(zombie.pid, 0)).not.toThrow();
  parent.kill('SIGKILL');
  await once(parent, 'close');
});

test('a killed process is alive as long as one of its threads holds its port', async () => {
  // Node has several threads; the first to end is not always the one that holds the last reference to the port.
  for (let round = 0; round < 10; round++) {
    const serve = `require('node:net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port); })`;
    const child = spawn(process.execPath, ['-e', serve], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const identity = identityOf(child.pid!);
    process.kill(identity.pid, 'SIGKILL');
    waitForEnd(identity);
    expect(await isPortFree(Number(port))).toBe(true);
  }
});

test('a group that ignores SIGTERM is killed after the grace, children of its leader included', async () => {
  const script = 'trap "" TERM; sleep 60 & echo $!; while :; do sleep 1; done';
  const leader = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  const [pid] = (await once(createInterface({ input: leader.stdout }), 'line')) as [string];
  const child = identityOf(Number(pid));
  // Its output closes when the last process of the group has ended.
  const closed = once(leader, 'close');
  await endGroup(identityOf(leader.pid!), 50);
  expect(await closed).toEqual([null, 'SIGKILL']);
  waitForEnd(child);
});
