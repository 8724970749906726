// D6: a full disk stalls programs that print, is reported as `degraded`, and loses nothing.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { CommandView } from '../../../../contracts/sessions/session';
import { SessionHost } from '../../../../exec/host/session-host';
import type { InputRequestFrame } from '../../../../exec/protocol';
import type { SpareHolder } from '../../../../exec/host/holders/spare-holder';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { until } from '../../../helpers/until';
import {
  cpuTicks,
  endWithoutTrace,
  eventually,
  holderOf,
  linksOf,
  logOf,
  otherSession,
  processesMarked,
  reset,
} from '../session-processes';
import { smallDisk, type SmallDisk } from './small-disk';

const probe = smallDisk(1);
probe?.unmount();
const whereMounted = probe ? describe : describe.skip;

whereMounted(`a full disk${probe ? '' : ' (not checked: a tmpfs may not be mounted here)'}`, () => {
  let disk: SmallDisk;
  let t: TestHost;
  beforeEach(() => {
    disk = smallDisk(2) as SmallDisk;
    t = testHost({ dataDir: join(disk.path, 'data') });
  });
  afterEach(async () => {
    disk.empty();
    await endWithoutTrace(t);
    disk.unmount();
  });

  const exit = (timeoutMs = 30_000): Promise<CommandView> => t.until({ kind: 'exit', from: 0, timeoutMs });
  const degraded = async (): Promise<string | null> => (await t.host.status(t.ref)).degraded ?? null;
  const untilDegraded = async (): Promise<void> =>
    expect(await eventually(degraded, (reason) => reason !== null)).toMatch(/ENOSPC/);
  const go = (): void => writeFileSync(join(t.cwd, 'go'), '');
  const waitThen = (code: string): Promise<CommandView> =>
    t.run(`until [ -e go ]; do sleep 0.02; done; ${code}`, { yield: { firstOutputMs: 20 } });

  test('stalls a flood, says degraded, and every byte is there once space returns', async () => {
    const running = await t.run('seq 400000; (exit 7)', { yield: { maxMs: 1_000 } });
    await untilDegraded();
    expect(running.state).toBe('running');
    expect(await t.until({ kind: 'idle', from: 0, timeoutMs: 30_000 })).toMatchObject({
      state: 'running',
      degraded: expect.stringContaining('no space left on device') as string,
    });
    // Another test may run the same program.
    const own = processesMarked(t.cwd).filter((line) => / seq 400000$/.test(line));
    const [pid] = own.map((line) => line.split(' ')[0]);
    const [ticks, bytes] = [cpuTicks(pid), logOf(t).length];
    await t.until({ kind: 'output', from: bytes, timeoutMs: 500 });
    expect([cpuTicks(pid), logOf(t).length]).toEqual([ticks, bytes]);
    disk.grow(16);
    expect(await exit()).toMatchObject({ state: 'exited', exitCode: 7, degraded: null });
    const whole = Array.from({ length: 400_000 }, (_, i) => `${i + 1}\r\n`).join('');
    expect(logOf(t).toString('latin1') === whole).toBe(true);
  });

  test('holds back the end of a command whose output waits in the kernel', async () => {
    await waitThen(`printf '%010000d' 0; (exit 3)`);
    disk.fill();
    go();
    await untilDegraded();
    // Longer than the holder waits for the end of the output of a shell that is not stalled.
    expect(await exit(2_500)).toMatchObject({ state: 'running', exitCode: null });
    await expectWhole(10_000);
  });

  test('holds back the end of a command whose output waits in the holder', async () => {
    await waitThen(`printf '%0100d' 0; (exit 3)`);
    disk.fill();
    // Stopped, so that it is given output and end at once.
    const holder = holderOf(t);
    process.kill(holder, 'SIGSTOP');
    go();
    await untilDriverWaits();
    process.kill(holder, 'SIGCONT');
    await untilDegraded();
    expect(await exit(500)).toMatchObject({ state: 'running', exitCode: null });
    await expectWhole(100);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['Ctrl-C is pressed', () => expectNotTyped({ text: null, keys: ['ctrl-c'] })],
    ['something is typed', () => expectNotTyped({ text: 'y', keys: [] })],
    ['the session is reset', () => reset(t, t.ref, 'it seems to hang')],
    ['its shell is interrupted', interruptShell],
    ['its shell is killed', killShell],
  ])(
    'keeps the code and the output of a command that has ended, also if %s before there is space',
    async (_what, happens) => {
      await waitThen(`printf '%014000d' 0; (exit 3)`);
      disk.fill();
      go();
      await untilDegraded();
      await untilDriverWaits();
      await happens();
      expect(await endWithZeros()).toMatchObject({ exitCode: 3, signal: null, killedBy: null });
      expect(await t.run('echo next')).toMatchObject({ output: 'next\n', exitCode: 0 });
    },
  );

  test.each<[string, string, number, () => Promise<unknown>]>([
    ['the end that was told', '(exit 4)', 0, () => exit()],
    ['output and end that are not told yet', `printf '%010000d' 0; (exit 4)`, 10_000, untilDriverWaits],
  ])(
    'lets a session be closed without losing %s, if there is space soon',
    async (_what, code, zeros, hasEnded) => {
      const { from } = await waitThen(code);
      const { command } = await t.host.status(t.ref);
      disk.fill();
      go();
      await hasEnded();
      await untilDegraded();
      const closing = t.host.close(t.ref, 'its work is done');
      await eventually(
        () => pidsOf('bash'),
        (pids) => pids.length === 0,
      );
      disk.empty();
      await closing;
      expect(t.host.isOpen(t.ref)).toBe(false);
      const again = await t.run(`until [ -e go ]; do sleep 0.02; done; ${code}`, { id: command?.id ?? '' });
      expect(again).toMatchObject({ exitCode: 4, killedBy: null, from, to: from + zeros });
      expect(logOf(t).toString()).toBe('0'.repeat(zeros));
    },
  );

  test('keeps a session that is closed for a few seconds only', async () => {
    await waitThen(`printf '%010000d' 0; (exit 4)`);
    disk.fill();
    go();
    await untilDriverWaits();
    // The end of a shell gives back the space of its files.
    const filling = setInterval(() => disk.fill(), 5);
    const began = performance.now();
    expect((await t.host.close(t.ref, 'its work is done')).command).toMatchObject({ exitCode: 4 });
    const tookMs = performance.now() - began;
    clearInterval(filling);
    expect([tookMs > 2_000, tookMs < 5_000, t.host.isOpen(t.ref)]).toEqual([true, true, false]);
  });

  test('loses nothing that a program has printed before it is reset', async () => {
    await waitThen(`printf '%014000d' 0; sleep 600`);
    disk.fill();
    go();
    await untilDegraded();
    await eventually(
      () => processesMarked(t.cwd),
      (lines) => lines.some((line) => line.endsWith(' sleep 600')),
    );
    await reset(t, t.ref, 'no space');
    expect(await endWithZeros()).toMatchObject({ signal: 'SIGKILL', killedBy: { by: 'reset' } });
  });

  /** The end of a command that has printed 14,000 zeros, which the kernel still holds. What the shell itself says after its end may follow them. */
  async function endWithZeros(): Promise<CommandView> {
    disk.empty();
    await eventually(degraded, (reason) => reason === null);
    const end = await exit();
    expect(logOf(t).subarray(end.from, end.to).toString()).toMatch(/^0{14000}(\r\n|Killed\r\n)?$/);
    return end;
  }

  const expectNotTyped = async (input: Pick<InputRequestFrame, 'text' | 'keys'>): Promise<void> =>
    expect(t.host.input(t.ref, { id: 'late', ...input })).rejects.toMatchObject({
      code: 'no_running_process',
    });

  /** Until its loop has begun again, which prints a fence and reports. */
  async function interruptShell(): Promise<void> {
    const [shell] = pidsOf('bash');
    const written = (): number => Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${shell}/io`, 'utf8'))?.[1]);
    const before = written();
    process.kill(Number(shell), 'SIGINT');
    await eventually(written, (now) => now > before);
    await untilDriverWaits();
  }

  /** Until that is reported: the terminal's first process then waits to be ended. */
  async function killShell(): Promise<void> {
    process.kill(Number(pidsOf('bash')[0]), 'SIGKILL');
    await eventually(
      () => isOpenIn('sh', '/hold'),
      (isTrue) => isTrue,
    );
  }

  const pidsOf = (program: string): string[] =>
    processesMarked(t.dataDir)
      .map((line) => line.split(' '))
      .flatMap(([pid = '', path = '']) => (basename(path) === program ? pid : []));
  const isOpenIn = (program: string, name: string): boolean =>
    pidsOf(program).some((pid) => linksOf(pid).some((link) => link.endsWith(name)));
  /** Whether bash has reported the end of a command and waits for the next. */
  const driverWaits = (): boolean => isOpenIn('bash', '/down');
  async function untilDriverWaits(): Promise<void> {
    expect(await eventually(driverWaits, (isTrue) => isTrue)).toBe(true);
  }

  async function expectWhole(bytes: number): Promise<void> {
    disk.empty();
    const end = await exit();
    expect(end).toMatchObject({ state: 'exited', exitCode: 3, degraded: null });
    expect(logOf(t).subarray(end.from, end.to).toString()).toBe('0'.repeat(bytes));
    expect(await t.run('echo next')).toMatchObject({ output: 'next\n', freshShell: false });
  }

  test('that cannot take the record of an end keeps nobody waiting, and gets it once there is space', async () => {
    await waitThen('(exit 4)');
    const { command } = await t.host.status(t.ref);
    const id = command?.id ?? '';
    disk.fill();
    go();
    expect(await exit()).toMatchObject({ state: 'exited', exitCode: 4 });
    expect(await degraded()).toMatch(/ENOSPC/);
    const other = new SessionHost(t.host.options);
    expect(other.commandRecord(t.ref, id)).toMatchObject({ endedAt: null });
    disk.empty();
    await eventually(degraded, (reason) => reason === null);
    expect(other.commandRecord(t.ref, id)).toMatchObject({ exitCode: 4, lost: false });
    expect(await t.run('echo next')).toMatchObject({ output: 'next\n', freshShell: false });
  });

  test.each([0, 1])(
    'with %i pages left refuses a command, runs nothing of it, and takes the same id later',
    async (freePages) => {
      await t.run('KEPT=1');
      disk.fill(freePages);
      const request = { id: 'refused', runtime: 'terminal', code: `echo ran >> '${t.cwd}/ran'` } as const;
      await expect(t.host.run(t.ref, request)).rejects.toMatchObject({
        code: 'storage_failed',
        retryable: true,
      });
      expect(t.host.commandRecord(t.ref, 'refused')).toBeUndefined();
      disk.empty();
      expect(existsSync(join(t.cwd, 'ran'))).toBe(false);
      expect(await t.run(request.code, { id: 'refused' })).toMatchObject({ exitCode: 0, freshShell: false });
      expect(readFileSync(join(t.cwd, 'ran'), 'utf8')).toBe('ran\n');
      expect((await t.run('echo $KEPT')).output).toBe('1\n');
    },
  );

  test('refuses to open a session or a fresh shell, and does so later', async () => {
    await t.run('exit 1');
    disk.fill();
    for (const ref of [t.ref, otherSession(t, 1)]) {
      const run = t.host.run(ref, { id: 'open', runtime: 'terminal', code: `touch '${t.cwd}/ran'` });
      // A holder that cannot even write a record of itself has no room for a log line either.
      const code = expect.stringMatching(/^(storage|terminal)_failed$/) as string;
      await expect(run).rejects.toMatchObject({ code });
    }
    expect(existsSync(join(t.cwd, 'ran'))).toBe(false);
    disk.empty();
    for (const [ref, epoch] of [
      [t.ref, 2],
      [otherSession(t, 1), 1],
    ] as const) {
      expect(await t.run('echo open', { ref })).toMatchObject({
        output: 'open\n',
        epoch,
        freshShell: epoch > 1,
      });
    }
  });

  test('lets a stalled session be reset, and the next command has only its own output', async () => {
    await waitThen('while :; do echo OLD; done');
    disk.fill();
    go();
    await untilDegraded();
    await reset(t, t.ref, 'no space');
    expect(await exit()).toMatchObject({ state: 'exited', killedBy: { by: 'reset', reason: 'no space' } });
    await expect(t.host.run(t.ref, { id: 'r', runtime: 'terminal', code: ':' })).rejects.toMatchObject({
      code: 'storage_failed',
    });
    disk.empty();
    await eventually(degraded, (reason) => reason === null);
    const next = await t.run('seq 3');
    expect(next).toMatchObject({ output: '1\n2\n3\n', freshShell: true, degraded: null });
    expect(logOf(t).subarray(0, next.from).toString()).toMatch(/^(OLD\r\n)+(O|OL|OLD|OLD\r)?$/);
  });

  test('of the data says nothing of sessions whose data lie elsewhere', async () => {
    const elsewhere = testHost();
    await waitThen('yes');
    disk.fill();
    go();
    await untilDegraded();
    expect(await elsewhere.run('echo fine')).toMatchObject({ output: 'fine\n', degraded: null });
    await reset(t);
    await endWithoutTrace(elsewhere);
  });

  test('ends no worker that keeps a spare holder: there is one again once there is space', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const spares = join(disk.path, 'data', 'spares');
    const shells = (): string[] =>
      existsSync(spares) ? readdirSync(spares).filter((name) => !name.includes('.')) : [];
    disk.fill();
    const host = new SessionHost({ ...t.host.options, keepSpare: true });
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/^no spare holder.*ENOSPC/), expect.anything()]]);
    disk.empty();
    await host.run(otherSession(t, 1), { id: 'first', runtime: 'terminal', code: 'echo fine' });
    expect(await eventually(shells, (found) => found.length === 1)).toHaveLength(1);
    // The next one is prepared a moment later: held back here until there is no space again.
    const { spare } = host as unknown as { spare: SpareHolder };
    const prepare = jest.spyOn(spare, 'prepare').mockImplementation(() => undefined);
    await host.run(otherSession(t, 2), { id: 'second', runtime: 'terminal', code: 'echo fine' });
    disk.fill();
    await until(() => prepare.mock.calls.length > 0);
    prepare.mockRestore();
    spare.prepare();
    expect(processesMarked(`${spares}/`).filter((line) => line.includes('dist/holder.js'))).toHaveLength(1);
    disk.empty();
    await host.run(otherSession(t, 3), { id: 'third', runtime: 'terminal', code: 'echo fine' });
    expect(await eventually(shells, (found) => found.length === 2)).toHaveLength(2);
    warn.mockRestore();
    await host.endSpare();
    host.detach();
  });
});
