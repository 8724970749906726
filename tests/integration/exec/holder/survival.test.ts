// D3 and re-attaching: what outlives the death of a worker or of a holder, and what is never done again.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandView } from '../../../../contracts/sessions/session';
import { SessionHost } from '../../../../exec/host/session-host';
import { readJson } from '../../../../system/json-file';
import type { HolderRecord } from '../../../../exec/client/holder-client';
import { HolderPulse } from '../../../../exec/client/holder-pulse';
import { isAlive } from '../../../../system/processes/process-identity';
import { runDist } from '../../../helpers/engines/dist-process';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { until } from '../../../helpers/until';
import {
  endWithoutTrace,
  eventually,
  logOf,
  otherSession,
  processesMarked,
  reset,
  survivors,
} from '../session-processes';

let t: TestHost;
beforeEach(() => (t = testHost()));
afterEach(() => endWithoutTrace(t));

/** A second host on the same folder, as a worker after a restart is. */
const another = (): SessionHost => new SessionHost(t.host.options);

/** Runs in a separate process: it begins `code` under `id`, says so, and stays. */
const WORKER = `
  const { SessionHost } = load('exec/host/session-host');
  const [options, ref, id, code] = args.map((arg) => { try { return JSON.parse(arg); } catch { return arg; } });
  const host = new SessionHost(options);
  const { command } = await host.run(ref, { id, runtime: 'terminal', code });
  console.log(JSON.stringify(command));
  setInterval(() => undefined, 1e6);`;

/** Starts a command from a process that is then SIGKILLed with its whole group. */
async function startAndKillWorker(id: string, code: string): Promise<void> {
  const worker = runDist(WORKER, JSON.stringify(t.host.options), JSON.stringify(t.ref), id, code);
  await worker.nextLine();
  worker.child.kill('SIGKILL');
  await worker.ended;
}

const runs = (): number =>
  existsSync(join(t.cwd, 'runs')) ? readFileSync(join(t.cwd, 'runs'), 'utf8').split('\n').length - 1 : 0;

describe('a holder that is killed before it is used', () => {
  /** Kills the first `count` holders between their start and the first connection. */
  function killNew(count: number): void {
    const connect = HolderPulse.connect.bind(HolderPulse);
    let killed = 0;
    jest.spyOn(HolderPulse, 'connect').mockImplementation(async (record, session) => {
      if (killed++ < count) {
        process.kill(record.identity.pid, 'SIGKILL');
        await until(() => !isAlive(record.identity));
      }
      return connect(record, session);
    });
  }
  afterEach(() => jest.restoreAllMocks());

  test('is replaced: the command runs once, in another', async () => {
    killNew(1);
    expect((await t.run('echo x >> runs; pwd')).output.trim()).toBe(t.cwd);
    expect(runs()).toBe(1);
  });

  test('is replaced where a session is only opened', async () => {
    killNew(1);
    expect((await t.host.open(t.ref, null)).command).toBeNull();
    expect(t.host.isOpen(t.ref)).toBe(true);
  });

  test('and so are all that follow: the caller is told, and nothing was run', async () => {
    killNew(Infinity);
    const refused = { code: 'terminal_failed' };
    await expect(t.run('echo x >> runs')).rejects.toMatchObject(refused);
    await expect(t.host.open(t.ref, null)).rejects.toMatchObject(refused);
    jest.restoreAllMocks();
    expect((await t.run('echo after')).output.trim()).toBe('after');
    expect(runs()).toBe(0);
  });
});

describe('a second host on the same folder', () => {
  test('sees the running command and its end', async () => {
    await t.run('echo begun; until [ -e go ]; do sleep 0.02; done; (exit 4)', {
      id: 'one',
      yield: { betweenOutputMs: 50 },
    });
    const second = another();
    expect((await second.status(t.ref)).command).toMatchObject({ id: 'one', endedAt: null });
    t.host.detach();
    writeFileSync(join(t.cwd, 'go'), '');
    const { reason, snapshot } = await second.observe(t.ref, { kind: 'exit', from: 0, timeoutMs: 30_000 });
    expect([reason, snapshot.command?.exitCode]).toEqual(['exit', 4]);
    second.detach();
  });

  test('does not run a known id, running or ended, and answers with its record', async () => {
    const request = {
      id: 'one',
      runtime: 'terminal',
      code: 'echo x >> runs; until [ -e go ]; do sleep 0.02; done; (exit 4)',
    } as const;
    await t.host.run(t.ref, request);
    const second = another();
    expect((await second.run(t.ref, request)).command).toMatchObject({ id: 'one', endedAt: null });
    writeFileSync(join(t.cwd, 'go'), '');
    await second.observe(t.ref, { kind: 'exit', from: 0, timeoutMs: 30_000 });
    expect((await second.run(t.ref, request)).command).toMatchObject({ id: 'one', exitCode: 4 });
    await t.run('echo between');
    expect((await second.run(t.ref, request)).command).toMatchObject({ id: 'one', exitCode: 4 });
    expect(runs()).toBe(1);
    second.detach();
  });

  test('that sends one id at once with the first runs it once', async () => {
    await t.run(':');
    const second = another();
    const request = { id: 'same', runtime: 'terminal', code: 'echo x >> runs' } as const;
    await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? t.host : second).run(t.ref, request)));
    await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 });
    expect(runs()).toBe(1);
    second.detach();
  });

  test('refuses an id that arrives with other code or another runtime', async () => {
    await t.run('echo x >> runs', { id: 'taken' });
    const second = another();
    for (const [runtime, code] of [
      ['terminal', 'echo y >> runs'],
      ['python', 'echo x >> runs'],
    ] as const) {
      await expect(second.run(t.ref, { id: 'taken', runtime, code })).rejects.toMatchObject({
        code: 'id_conflict',
      });
    }
    expect(runs()).toBe(1);
    second.detach();
  });

  test('continues in the same shell, and a reset through it ends the tree', async () => {
    await t.run('KEPT=1; cd /');
    const second = another();
    await second.run(t.ref, { id: 'next', runtime: 'terminal', code: 'echo "$KEPT $PWD"; exec sleep 600' });
    await second.observe(t.ref, { kind: 'output', from: 0, timeoutMs: 30_000 });
    expect(logOf(t).toString()).toBe('1 /\r\n');
    await second.reset(t.ref, { id: 'r', reason: 'from the second', by: 'reset' });
    expect((await t.host.status(t.ref)).command?.killedBy).toEqual({
      by: 'reset',
      reason: 'from the second',
    });
    second.detach();
  });

  test('can take over an input without typing it twice', async () => {
    await t.run('while read -r x && [ "$x" != end ]; do echo "got $x"; done');
    const second = another();
    await t.host.input(t.ref, { id: 'in', text: 'once', keys: [] });
    await second.input(t.ref, { id: 'in', text: 'once', keys: [] });
    await second.input(t.ref, { id: 'end', text: 'end', keys: [] });
    expect(
      (await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 })).output.match(/got once/g),
    ).toHaveLength(1);
    second.detach();
  });
});

describe('the SIGKILL of a worker process', () => {
  test('leaves its command running; the next worker re-attaches and runs nothing twice', async () => {
    const code = 'echo x >> runs; echo begun; until [ -e go ]; do sleep 0.02; done; echo done; (exit 3)';
    await startAndKillWorker('survivor', code);
    const began = Date.now();
    expect((await t.host.run(t.ref, { id: 'survivor', runtime: 'terminal', code })).command).toMatchObject({
      endedAt: null,
    });
    expect(Date.now() - began).toBeLessThan(5_000);
    writeFileSync(join(t.cwd, 'go'), '');
    const end = await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 });
    expect(end).toMatchObject({ state: 'exited', exitCode: 3, output: 'begun\ndone\n' });
    expect(runs()).toBe(1);
  });

  test('during 400,000 lines loses and doubles none', async () => {
    await startAndKillWorker('flood', 'echo x >> runs; seq 400000; (exit 5)');
    const end = await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 });
    expect(end).toMatchObject({ state: 'exited', exitCode: 5 });
    const lines = logOf(t).toString('latin1').split('\r\n');
    expect(lines.pop()).toBe('');
    expect(lines).toHaveLength(400_000);
    expect(lines.findIndex((line, i) => line !== String(i + 1))).toBe(-1);
    expect(runs()).toBe(1);
  });

  test('after its command has ended leaves the result to the next worker', async () => {
    await startAndKillWorker('short', 'echo x >> runs; echo result; (exit 6)');
    await eventually(
      () => runs(),
      (count) => count > 0,
    );
    expect(await t.run('echo x >> runs; echo result; (exit 6)', { id: 'short' })).toMatchObject({
      exitCode: 6,
      output: 'result\n',
    });
    expect(runs()).toBe(1);
  });
});

describe('the SIGKILL of a holder', () => {
  const holder = (): HolderRecord => {
    const record = readJson<HolderRecord>(join(t.dataDir, 'sessions', 'test.local.0', 'holder.json'));
    if (!record) throw new Error('no holder');
    return record;
  };
  /** Kills it and waits until it is gone and the host knows the command's outcome. */
  async function killHolder(): Promise<CommandView> {
    const told = t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 });
    process.kill(holder().identity.pid, 'SIGKILL');
    await survivors(t.dataDir);
    await told;
    return t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 });
  }
  const COUNTER = 'echo x >> runs; i=0; while :; do echo "line $((i++))"; sleep 0.001; done';

  test('makes the command lost, with the cause, and keeps an exact prefix of its output', async () => {
    await t.run(COUNTER, { id: 'counter', yield: { maxMs: 200 } });
    await until(() => logOf(t).length > 0);
    expect(await killHolder()).toMatchObject({
      commandId: 'counter',
      state: 'lost',
      exitCode: null,
      killedBy: { by: 'host_lost', reason: expect.any(String) as string },
    });
    const log = logOf(t).toString();
    const whole = Array.from({ length: log.split('\n').length }, (_, i) => `line ${i}\r\n`).join('');
    expect(log.length).toBeGreaterThan(0);
    expect(whole.startsWith(log)).toBe(true);
  });

  test('leaves no process of the session', async () => {
    const mark = `left-${process.pid}-${Date.now()}`;
    await t.run(
      `setsid bash -c 'sleep 600; : ${mark}' & nohup bash -c 'sleep 600; : ${mark}' >/dev/null 2>&1 & sleep 600`,
      {
        yield: { firstOutputMs: 50, betweenOutputMs: 50 },
      },
    );
    await killHolder();
    expect(await survivors(mark, t.dataDir, t.cwd)).toEqual([]);
  });

  test('never leads to a silent second run: the same id answers with the loss', async () => {
    await t.run(COUNTER, { id: 'counter', yield: { maxMs: 100 } });
    await until(() => runs() === 1);
    await killHolder();
    for (const host of [t.host, another()]) {
      expect(
        (await host.run(t.ref, { id: 'counter', runtime: 'terminal', code: COUNTER })).command,
      ).toMatchObject({
        id: 'counter',
        lost: true,
        killedBy: { by: 'host_lost' },
      });
      host.detach();
    }
    expect(runs()).toBe(1);
  });

  test('gives the next command a fresh shell and a new epoch, after the old output', async () => {
    const { epoch } = await t.run('X=1; echo old; sleep 600', { yield: { betweenOutputMs: 50 } });
    const { pid } = holder().identity;
    await killHolder();
    const next = await t.run('echo "[$X]"');
    expect(next).toMatchObject({ state: 'exited', output: '[]\n', freshShell: true, epoch: epoch + 1 });
    expect(logOf(t).toString()).toBe('old\r\n[]\r\n');
    expect(holder().identity.pid).not.toBe(pid);
  });

  test('between two commands loses nothing: the last result stays, the next shell is fresh', async () => {
    await t.run('echo done; (exit 2)', { id: 'ended' });
    await killHolder();
    expect((await t.host.status(t.ref)).command).toMatchObject({ id: 'ended', exitCode: 2, lost: false });
    expect(await t.run('echo done; (exit 2)', { id: 'ended' })).toMatchObject({
      state: 'exited',
      exitCode: 2,
      output: 'done\n',
    });
    expect(await t.run('echo next')).toMatchObject({ output: 'next\n', freshShell: true });
  });

  test('refuses input and answers reset and status with the loss', async () => {
    await t.run('sleep 600', { yield: { firstOutputMs: 50 } });
    await killHolder();
    expect(await t.host.input(t.ref, { id: 'i', text: 'x', keys: [] })).toBeUndefined();
    await reset(t);
    expect((await t.host.status(t.ref)).command).toMatchObject({ lost: true, killedBy: { by: 'host_lost' } });
  });

  test('touches no other session', async () => {
    const other = otherSession(t, 1);
    await t.run('KEPT=1', { ref: other });
    await t.run('sleep 600', { yield: { firstOutputMs: 50 } });
    await killHolder();
    expect(await t.run('echo $KEPT', { ref: other })).toMatchObject({ output: '1\n' });
  });
});

test('a TERM to a holder ends its tree, and the session continues in a fresh shell', async () => {
  await t.run('sleep 600', { id: 'told', yield: { firstOutputMs: 50 } });
  const { identity } = readJson<HolderRecord>(
    join(t.dataDir, 'sessions', 'test.local.0', 'holder.json'),
  ) as HolderRecord;
  process.kill(identity.pid, 'SIGTERM');
  // Its programs have a second to end by themselves, and it has its records to write.
  await until(() => processesMarked(t.dataDir, t.cwd).length === 0);
  expect(t.host.commandRecord(t.ref, 'told')).toMatchObject({ lost: false, killedBy: { by: 'closed' } });
  expect(await t.run('echo next')).toMatchObject({ output: 'next\n', freshShell: true });
});
