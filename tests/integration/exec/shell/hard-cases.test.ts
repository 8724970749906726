// Regressions: each was found by a test or a review and failed before its fix.
import { SessionHost } from '../../../../exec/host/session-host';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace } from '../session-processes';
import { holderRecord } from '../../../helpers/terminals/holder-record';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

const exit = (): ReturnType<TestHost['until']> => t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 });

/**
 * As a person does: a job that ends in the very moment of the signal takes it with it, in every terminal, and is
 * interrupted by the next.
 */
async function interruptUntilItEnds(id: string): Promise<Awaited<ReturnType<typeof exit>>> {
  for (let press = 1; ; press++) {
    // It may have ended since the last look.
    await t.host
      .input(t.ref, { id: `${id}-${press}`, text: null, keys: ['ctrl-c'] })
      .catch((err: { code?: string }) => expect(err.code).toBe('no_running_process'));
    const view = await t.until({ kind: 'exit', from: 0, timeoutMs: 1_000 });
    if (view.state === 'exited' || press === 5) return view;
  }
}

test('several keys in a row are all typed, in their order', async () => {
  await t.run('stty raw -echo; head -c 3 | od -An -tx1; stty sane', { yield: { promptMs: 0 } });
  await t.host.input(t.ref, { id: 'keys', text: null, keys: ['space', 'tab', 'enter'] });
  expect((await exit()).output.trim()).toBe('20 09 0d');
});

test.each([
  ['another text', "PROMPT_COMMAND='echo hijacked'"],
  ['an array', 'PROMPT_COMMAND=(a b)'],
  ['nothing', 'unset PROMPT_COMMAND'],
])(
  'a command that sets PROMPT_COMMAND to %s and breaks out of the driver’s loop still ends',
  async (_what, code) => {
    expect(await t.run(`${code}\nbreak`)).toMatchObject({ state: 'exited' });
    expect(await t.run('echo next')).toMatchObject({ output: 'next\n', exitCode: 0, freshShell: false });
  },
);

test.each([
  ['cannot open a file any more', 'ulimit -n 4; (exit 7)'],
  ['may not redirect output any more', 'set -r; (exit 7)'],
  ['cannot open a file any more and has a stopped job', 'sleep 600 & kill -STOP $!; ulimit -n 4; (exit 7)'],
])(
  'a command after which the shell %s ends with its shell and its code, within seconds and without a flood',
  async (_what, code) => {
    await t.run('(exit 3)');
    await t.run(code);
    const { from, to } = await exit();
    expect(await exit()).toMatchObject({ state: 'exited', exitCode: 7, killedBy: null });
    expect(to - from).toBeLessThan(4_000);
    expect(await t.run('echo next')).toMatchObject({ output: 'next\n', exitCode: 0, freshShell: true });
  },
);

test('a command after which the shell can open no file for a second ends with its code and keeps its shell', async () => {
  await t.run('KEPT=1');
  const later = '(sleep 1; prlimit --pid $$ --nofile=1024:) & disown';
  await t.run(`${later}; ulimit -Sn 4; (exit 7)`);
  expect(await exit()).toMatchObject({ state: 'exited', exitCode: 7, killedBy: null });
  expect(await t.run('echo "[$KEPT]"')).toMatchObject({ output: '[1]\n', freshShell: false });
});

test('exec bash ends the command at once, and the next one begins in a fresh shell', async () => {
  const view = await t.run('export BEFORE=1; exec bash');
  expect(view.state).not.toBe('running');
  expect(await exit()).toMatchObject({ state: 'exited', exitCode: 0 });
  expect(await t.run('echo "[$BEFORE]"')).toMatchObject({ output: '[]\n', freshShell: true });
});

test('exec of a program that is not a shell runs it to its end', async () => {
  expect(await t.run("exec sh -c 'echo replaced; exit 4'")).toMatchObject({
    exitCode: 4,
    output: 'replaced\n',
  });
});

test('exit 143 is an exit by its own will and not a signal', async () => {
  expect(await t.run('exit 143')).toMatchObject({ exitCode: 143, signal: null, killedBy: null });
});

test.each([
  ['', 'sleep 1000', ':'],
  [
    ', also where the session’s PATH names no programs',
    'PATH=/nowhere; /bin/sleep 1000',
    'PATH=/usr/bin:/bin',
  ],
])(
  'what a killed program did not read is neither input nor output of the next command%s',
  async (_where, code, after) => {
    await t.run(code, { yield: { firstOutputMs: 0 } });
    await t.host.input(t.ref, { id: `unread ${code}`, text: 'touch unread\n'.repeat(1_000), keys: [] });
    expect(await interruptUntilItEnds(`stop ${code}`)).toMatchObject({ exitCode: 130 });
    const next = await t.run(
      'if read -r -t 0.3 line; then echo "read: $line"; else echo "nothing to read"; fi',
    );
    expect(next.output).toBe('nothing to read\n');
    await t.run(after);
  },
);

test('a session’s own programs are run by their names, also after typing was discarded before a command', async () => {
  await t.run(
    'mkdir own; for name in cat stty; do printf "#!/bin/sh\\necho own" >own/$name; done; chmod +x own/*',
  );
  await t.run('sleep 1000', { yield: { firstOutputMs: 0 } });
  await t.host.input(t.ref, { id: 'unread by sleep', text: 'touch unread\n'.repeat(1_000), keys: [] });
  await interruptUntilItEnds('stop sleep');
  const next = await t.run('PATH=$PWD/own:$PATH; cat </dev/null; command stty; PATH=${PATH#*:}');
  expect(next.output).toBe('own\nown\n');
  // The flush is before this one, too, and finds what was in PATH by then.
  await t.run('PATH=$PWD/own:$PATH; sleep 1000', { yield: { firstOutputMs: 0 } });
  await t.host.input(t.ref, { id: 'unread again', text: 'touch unread\n'.repeat(1_000), keys: [] });
  await interruptUntilItEnds('stop again');
  expect((await t.run('cat </dev/null; command stty; PATH=${PATH#*:}')).output).toBe('own\nown\n');
});

test('ctrl-c ends a loop of jobs that are too short to be signalled', async () => {
  await t.run('while :; do sleep 0.005; done', { yield: { firstOutputMs: 0 } });
  expect(await interruptUntilItEnds('short-jobs')).toMatchObject({ state: 'exited', exitCode: 130 });
});

test('a session whose holder has just been killed answers as lost at once, whatever is asked', async () => {
  await t.run('sleep 1000', { yield: { firstOutputMs: 0 } });
  process.kill(holderRecord(t, t.ref).identity.pid, 'SIGKILL');
  const [status, reset, typed] = await Promise.all([
    t.host.status(t.ref),
    t.host.reset(t.ref, { id: 'late', reason: null, by: 'reset' }),
    t.host.input(t.ref, { id: 'late', text: 'x', keys: [] }),
  ]);
  expect(status.command).toMatchObject({ lost: true });
  expect(reset.command).toMatchObject({ lost: true });
  expect(typed).toBeUndefined();
});

test('a session whose shell cannot start ends its command with the error output, and does not hang', async () => {
  const without = { ...t.host.options, env: { PATH: '/nowhere' } };
  const host = new SessionHost(without);
  const ref = { ...t.ref, session: 7 };
  await expect(host.run(ref, { id: 'no-bash', runtime: 'terminal', code: 'true' })).rejects.toMatchObject({
    code: 'terminal_failed',
  });
  expect(host.commandRecord(ref, 'no-bash')).toBeUndefined();
  await host.close(ref, null);
  host.detach();
});
