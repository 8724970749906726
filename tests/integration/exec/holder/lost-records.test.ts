// A holder whose record was removed while nothing is connected to it: the session is still its own.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { HoldfastError } from '../../../../contracts/errors/holdfast-error';
import type { HolderRecord } from '../../../../exec/client/holder-client';
import { SessionHost } from '../../../../exec/host/session-host';
import { sessionPaths } from '../../../../exec/session-paths';
import { processStat } from '../../../../system/processes/proc';
import { identityOf, isAlive } from '../../../../system/processes/process-identity';
import { writeProcessRecord } from '../../../../system/processes/process-record';
import { holderRecord } from '../../../helpers/terminals/holder-record';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { until } from '../../../helpers/until';
import { endWithoutTrace, logOf, processesMarked, reset } from '../session-processes';

let t: TestHost;
let worker: SessionHost;
let holder: HolderRecord;
beforeEach(() => {
  t = testHost();
  worker = new SessionHost(t.host.options);
});
afterEach(async () => {
  if (isAlive(holder.identity)) process.kill(holder.identity.pid, 'SIGCONT');
  worker.detach();
  await endWithoutTrace(t);
});

const record = (): string => sessionPaths(t.dataDir, t.ref).holder;

async function stop(): Promise<void> {
  process.kill(holder.identity.pid, 'SIGSTOP');
  await until(() => processStat(holder.identity.pid)?.state === 'T');
}

function removeRecord(): void {
  holder = holderRecord(t, t.ref);
  rmSync(record());
}

test.each<[string, () => Promise<unknown>, number]>([
  ['before its first command', () => t.host.open(t.ref, null), 1],
  ['after a reset', () => t.run('echo before').then(() => reset(t)), 2],
])('a session whose record was removed %s keeps its holder', async (_when, prepare, epoch) => {
  await prepare();
  const before = logOf(t).toString();
  removeRecord();
  expect(worker.isOpen(t.ref)).toBe(true);
  expect(worker.isClosed(t.ref)).toBe(false);
  await worker.run(t.ref, { id: 'after', runtime: 'terminal', code: 'echo after' });
  expect(await worker.observe(t.ref, { kind: 'exit', from: 0, timeoutMs: 30_000 })).toMatchObject({
    snapshot: { epoch, command: { id: 'after', exitCode: 0 } },
  });
  expect(holderRecord(t, t.ref).identity).toEqual(holder.identity);
  expect(logOf(t).toString()).toBe(`${before}after\r\n`);
});

describe('of a stopped holder whose record was removed', () => {
  beforeEach(async () => {
    await t.run('echo begun; sleep 4000', { id: 'runs', yield: { firstOutputMs: 50, betweenOutputMs: 50 } });
    await until(() => logOf(t).toString() === 'begun\r\n');
    removeRecord();
    await stop();
  });

  test('the command is not taken for lost, and runs on when it is continued', async () => {
    const { pid } = holder.identity;
    const calls = [worker.run(t.ref, { id: 'next', runtime: 'terminal', code: ':' }), worker.status(t.ref)];
    for (const call of calls) {
      const error = await call.then(
        () => undefined,
        (err: unknown) => err,
      );
      expect(error).toBeInstanceOf(HoldfastError);
      expect(error).toMatchObject({
        code: 'session_unreachable',
        facts: { pid, delivered: 'nothing was sent to it' },
      });
    }
    expect(t.host.commandRecord(t.ref, 'runs')).toMatchObject({ endedAt: null, lost: false });
    process.kill(pid, 'SIGCONT');
    expect(await worker.status(t.ref)).toMatchObject({ epoch: 1, command: { id: 'runs', endedAt: null } });
    expect(holderRecord(t, t.ref).identity).toEqual(holder.identity);
    expect(logOf(t).toString()).toBe('begun\r\n');
  });

  test('a reset ends the whole tree', async () => {
    expect(await worker.reset(t.ref, { id: 'r', reason: 'enough', by: 'reset' })).toMatchObject({
      survivors: [],
      command: { id: 'runs', lost: true, killedBy: { by: 'reset' } },
    });
    expect(isAlive(holder.identity)).toBe(false);
    expect(processesMarked(t.cwd, t.dataDir)).toEqual([]);
  });
});

test('a holder changes neither its record nor its log while another living process is recorded as the holder', async () => {
  await t.run('echo kept');
  removeRecord();
  const { pid } = holder.identity;
  const other = spawn('sleep', ['4000'], { stdio: 'ignore' });
  try {
    writeProcessRecord(record(), { ...holder, identity: identityOf(other.pid ?? 0) });
    const written = readFileSync(record(), 'utf8');
    appendFileSync(t.host.logPath(t.ref), 'of the other\r\n');
    process.kill(pid, 'SIGURG');
    const said = (): string => readFileSync(sessionPaths(t.dataDir, t.ref).holderLog, 'utf8');
    await until(() => said().includes(`process ${other.pid} holds this session, too`));
    expect(readFileSync(record(), 'utf8')).toBe(written);
    expect(logOf(t).toString()).toBe('kept\r\nof the other\r\n');
  } finally {
    other.kill('SIGKILL');
    await until(() => other.signalCode !== null);
  }
  process.kill(pid, 'SIGURG');
  await until(() => holderRecord(t, t.ref).identity.pid === pid);
});

test('a holder whose session was deleted removes nothing of the next holder in its place', async () => {
  await t.run('echo deleted');
  holder = holderRecord(t, t.ref);
  const { pid } = holder.identity;
  const { directory, holder: path, process: own, tree } = sessionPaths(t.dataDir, t.ref);
  process.kill(pid, 'SIGSTOP');
  await until(() => processStat(pid)?.state === 'T');
  rmSync(directory, { recursive: true });
  await worker.run(t.ref, { id: 'next', runtime: 'terminal', code: 'sleep 4000' });
  const next = holderRecord(t, t.ref);
  expect(next.identity.pid).not.toBe(pid);
  process.kill(pid, 'SIGCONT');
  process.kill(pid, 'SIGURG');
  await until(() => !isAlive(holder.identity));
  expect([path, own, tree].map((file) => existsSync(file))).toEqual([true, true, true]);
  expect(holderRecord(t, t.ref).identity).toEqual(next.identity);
  holder = next;
});
