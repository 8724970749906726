// X4, X5: a terminal in a sandbox is a terminal like any other, and its host says that it is in one.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { SessionHost } from '../../../../exec/host/session-host';
import { StubFolder } from '../../../../exec/host/stub-folder';
import { stubFiles } from '../../../../tools/stubs/stub-files';
import { noSandbox } from '../../../helpers/hosts/sandbox';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { describedTool } from '../../../helpers/tools/stub-session';
import { ESCAPEES, newMark } from './escapees';
import {
  endWithoutTrace,
  eventually,
  otherSession,
  processesMarked,
  reset,
  survivors,
} from '../session-processes';

const missing = noSandbox();
const whereSandboxed = missing === undefined ? describe : describe.skip;

whereSandboxed(`in a sandbox${missing === undefined ? '' : ` (not checked: ${missing})`}`, () => {
  let t: TestHost;
  let stubs: string;
  beforeAll(() => {
    stubs = mkdtempSync(join(tmpdir(), 'holdfast-stubs-'));
    const folder = new StubFolder(stubs);
    folder.publish(stubFiles([describedTool({ name: 'ask' })], { node: process.execPath }));
    t = testHost({ stubs: folder, sandbox: {} });
  });
  afterEach(() => reset(t));
  afterAll(async () => {
    await endWithoutTrace(t);
    rmSync(stubs, { recursive: true, force: true });
  });
  const answer = (id: string, text: string | null, keys: 'ctrl-c'[] | 'ctrl-z'[] = []): Promise<unknown> =>
    t.host.input(t.ref, { id, text, keys });

  test('the view says so, and commands work in the workspace as elsewhere', async () => {
    const view = await t.run('echo kept > file; cd /; cat "$OLDPWD/file"; false');
    expect(view).toMatchObject({ output: 'kept\n', exitCode: 1, sandbox: 'bubblewrap' });
    expect(readFileSync(join(t.cwd, 'file'), 'utf8')).toBe('kept\n');
  });

  /** It prints once it is the foreground job: what is typed earlier reaches the shell, which handles it otherwise. */
  const SLEEPER = `sh -c 'echo began; exec sleep 600'`;

  test('Ctrl-C interrupts the foreground and leaves the shell', async () => {
    await t.run(`x=1; ${SLEEPER}`, { yield: { betweenOutputMs: 20 } });
    await answer('c', null, ['ctrl-c']);
    expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 })).toMatchObject({ exitCode: 130 });
    expect((await t.run('echo $x')).output).toBe('1\n');
  });

  test('Ctrl-Z stops a job, which fg and bg take up again', async () => {
    await t.run(SLEEPER, { yield: { betweenOutputMs: 20 } });
    await answer('z', null, ['ctrl-z']);
    expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 })).toMatchObject({ exitCode: 148 });
    expect((await t.run('jobs; bg; jobs -r | wc -l')).output).toMatch(/Stopped[^]*\n1\n$/);
    await t.run('fg', { yield: { betweenOutputMs: 20 } });
    await answer('c2', null, ['ctrl-c']);
    expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 })).toMatchObject({ exitCode: 130 });
  });

  test.each([
    ['a read of the shell', 'terminal', 'read x; echo "got $x"', true, 'certain'],
    ['a silent read of /dev/tty', 'terminal', 'read -s x < /dev/tty; echo "got $x"', false, 'certain'],
    ['Python input()', 'python', 'print("got", input())', true, 'certain'],
    ['Python getpass', 'python', 'import getpass\nprint("got", getpass.getpass(""))', false, 'certain'],
    [
      'a prompt of Node',
      'nodejs',
      'require("readline").createInterface(process.stdin).once("line", (l) => { console.log("got", l); process.exit(); })',
      true,
      'likely',
    ],
  ] as const)(
    '%s is detected as waiting, and accepts typed text',
    async (...[, runtime, code, echo, certainty]) => {
      await t.run(code, { runtime, yield: { promptMs: 0 } });
      // Not the first answer: while Node starts, timers of its own leave only a hint.
      expect(await t.until({ kind: 'needs_input', from: 0, timeoutMs: 30_000 })).toMatchObject({
        state: 'waiting_input',
        waiting: { echo, certainty },
      });
      await answer(`type-${newMark()}`, 'text');
      const { output } = await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 });
      expect(output).toContain('got text');
    },
  );

  test('the terminal has its size, a name and devices', async () => {
    const { output } = await t.run(
      'stty size; test -t 0 && tty; echo x > /dev/null; head -c 3 /dev/zero | wc -c',
    );
    expect(output).toMatch(/^40 120\n\/dev\/[a-z0-9/]+\n3\n$/);
  });

  test('a script calls a tool, and its call names the command', async () => {
    const running = t.run('tool ask');
    const { calls } = (await eventually(
      () => t.host.toolCalls(t.ref, 0, new AbortController().signal),
      (found) => found !== undefined,
    )) as { calls: { id: string; tool: string }[] };
    const [call] = calls;
    expect(call?.tool).toBe('ask');
    await t.host.answerCall(t.ref, { id: call?.id ?? '', answer: { callId: 'c', ok: true, value: 'told' } });
    expect(await running).toMatchObject({ exitCode: 0, output: 'told\n' });
  });

  test('of all kinds of processes at once none survives a reset', async () => {
    const marks = ESCAPEES.all.map(newMark);
    const code = marks.map((mark, n) => `( ${ESCAPEES.all[n]?.[1](mark)} ) &`).join('\n');
    await t.run(`${code}\nsleep 600`, { yield: { firstOutputMs: 20 } });
    const running = (): number => marks.filter((mark) => processesMarked(mark).length > 0).length;
    expect(await eventually(running, (count) => count === marks.length)).toBe(marks.length);
    await reset(t);
    expect(await survivors(...marks)).toEqual([]);
  });

  test('it sees no process and no variable of the host, and has folders of its own to write', async () => {
    // By name: the checkout and the home folder may lie below it, and are visible as far as they must be.
    const hidden = mkdtempSync(join(tmpdir(), 'holdfast-hidden-'));
    const code = `ls -d /proc/[0-9]* | wc -l; env | grep -c HOLDFAST_SESSION_MARK; touch /tmp/mine ~/mine && ls -A /run; ls -A /tmp | grep -e ^mine$ -e ${basename(hidden)}`;
    const { output } = await t.run(code);
    rmSync(hidden, { recursive: true });
    expect(output.split('\n').slice(1)).toEqual(['1', 'holdfast', 'mine', '']);
    expect(Number(output.split('\n')[0])).toBeLessThan(8);
    expect(existsSync('/tmp/mine')).toBe(false);
  });

  test('a repository cannot be created if the workspace has none', async () => {
    expect(await t.run('git init -q . 2>&1; ls -A .git')).toMatchObject({ exitCode: 0 });
    expect(readdirSync(join(t.cwd, '.git'))).toEqual([]);
  });

  test('a shell lives in a workspace where somebody has removed the empty .git that an earlier one left', async () => {
    const own = testHost({ sandbox: {} });
    try {
      expect(await own.run('true')).toMatchObject({ exitCode: 0 });
      await own.host.close(own.ref, null);
      rmdirSync(join(own.cwd, '.git'));
      const next = { ref: otherSession(own, 1) };
      expect(await own.run('sleep 1; echo x', next)).toMatchObject({ exitCode: 0, output: 'x\n' });
    } finally {
      await endWithoutTrace(own);
    }
  });

  test('a session that takes the spare is in the same sandbox, and begins in its own folder', async () => {
    const host = new SessionHost({ ...t.host.options, keepSpare: true });
    const spares = join(t.dataDir, 'spares');
    const isOpen = (): boolean =>
      existsSync(spares) && readdirSync(spares).some((name) => !name.includes('.'));
    await eventually(isOpen, (open) => open);
    mkdirSync(join(t.cwd, 'below'), { recursive: true });
    writeFileSync(join(t.cwd, 'below', 'file'), '');
    const ref = otherSession(t, 5);
    const code = 'pwd; ls; ls -A /run; [ -e ~/.bashrc ] || echo hidden; tool ask';
    await host.run(ref, { id: 'spare', runtime: 'terminal', code, cwd: join(t.cwd, 'below') });
    const { calls } = (await host.toolCalls(ref, 0, new AbortController().signal)) ?? { calls: [] };
    await host.answerCall(ref, { id: calls[0]?.id ?? '', answer: { callId: 'c', ok: true, value: 'told' } });
    const { output } = await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 }, ref);
    expect(output.split('\n')).toEqual([join(t.cwd, 'below'), 'file', 'holdfast', 'hidden', 'told', '']);
    await host.endSpare();
    host.detach();
  });
});
