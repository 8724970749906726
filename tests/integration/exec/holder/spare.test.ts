// The spare holder: a session that is opened with it cannot be distinguished from any other.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Shell } from '../../../../exec/holder/shell/shell';
import { isAlive, type Identity } from '../../../../system/processes/process-identity';
import { SessionHost } from '../../../../exec/host/session-host';
import { sessionPaths } from '../../../../exec/session-paths';
import { runDist } from '../../../helpers/engines/dist-process';
import { processesNaming } from '../../../helpers/engines/engine-of-its-own';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { until } from '../../../helpers/until';

let t: TestHost;
let host: SessionHost;
beforeEach(() => {
  t = testHost();
  host = new SessionHost({ ...t.host.options, keepSpare: true });
});
afterEach(async () => {
  await host.endSpare();
  host.detach();
  await t.end();
  // A namespace that is killed takes its processes with it a moment later.
  await until(() => processesNaming(t.dataDir).length === 0);
});

/** Each once: a child that it has forked has its command line too until it runs its own program. */
const holdersNaming = (text: string): string[] => [
  ...new Set(processesNaming(text).filter((line) => line.includes('dist/holder.js'))),
];
const spares = (): string[] => holdersNaming(join(t.dataDir, 'spares'));
const files = (): string[] => readdirSync(join(t.dataDir, 'spares'));
const ownerOfSpare = (): Identity => {
  const name = files().find((file) => file.endsWith('.owner')) ?? '';
  return JSON.parse(readFileSync(join(t.dataDir, 'spares', name), 'utf8')) as Identity;
};
/** Folders of shells that are open. */
const shells = (): string[] => files().filter((file) => !file.includes('.'));
const untilSpare = (): Promise<void> => until(() => spares().length > 0 && shells().length > 0);

async function outputOf(session: number, code: string, cwd?: string): Promise<string> {
  const ref = { ...t.ref, session };
  await host.run(ref, { id: `c${session}`, runtime: 'terminal', code, cwd });
  return (await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 }, ref)).output;
}

test('a spare that is stopped does not hold up the end of its worker', async () => {
  await untilSpare();
  process.kill(ownerOfSpare().pid, 'SIGSTOP');
  await host.endSpare();
  expect(spares()).toEqual([]);
}, 20_000);

test('a session that takes the spare has the same folder, environment and limits as one that does not', async () => {
  const code =
    'pwd; echo "[$OLDPWD]"; env | grep -v HOLDFAST_SESSION_MARK | sort; ls -l /dev/fd | wc -l; tty >/dev/null && stty size';
  await untilSpare();
  const before = spares();
  const fromSpare = await outputOf(1, code);
  expect(spares()).toEqual(expect.arrayContaining(before));
  expect(processesNaming(join(t.dataDir, 'sessions'))).toEqual([]);
  const cold = new SessionHost(t.host.options);
  await cold.run({ ...t.ref, session: 2 }, { id: 'c2', runtime: 'terminal', code });
  const ref = { ...t.ref, session: 2 };
  expect((await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 }, ref)).output).toBe(fromSpare);
  cold.detach();
});

test.each(["holdfast 'spare' $HOME ; ", 'two\nlines\n', '  ', '-'])(
  'a session that takes the spare begins in the folder it asks for, whatever its name (%j)',
  async (name) => {
    const folder = join(t.cwd, name);
    mkdirSync(folder);
    await untilSpare();
    const before = spares();
    expect(await outputOf(1, 'pwd; echo "[$OLDPWD] $LINENO"', folder)).toBe(`${folder}\n[] 1\n`);
    // Another may be prepared by now; a holder that was started for the session would be named by it.
    expect(spares()).toEqual(expect.arrayContaining(before));
    expect(processesNaming(join(t.dataDir, 'sessions'))).toEqual([]);
  },
);

test.each([true, false])(
  'a session whose folder is a file or gone is refused, with a spare as without (spare: %s)',
  async (keepSpare) => {
    await untilSpare();
    const file = join(t.cwd, 'file');
    writeFileSync(file, '');
    const one = keepSpare ? host : t.host;
    for (const cwd of [file, join(t.cwd, 'gone')]) {
      const run = one.run(t.ref, { id: 'c', runtime: 'terminal', code: `touch '${t.cwd}/ran'`, cwd });
      await expect(run).rejects.toMatchObject({
        code: 'no_working_folder',
        facts: { got: cwd, reason: expect.stringMatching(/^(is not a folder|does not exist)$/) as string },
      });
    }
    expect(existsSync(join(t.cwd, 'ran'))).toBe(false);
  },
);

test('a shell whose driver is gone, with its folder, ends instead of looking for commands without pause', async () => {
  const { cwd, env, treeKill } = t.host.options;
  const directory = join(t.dataDir, 'shell');
  const shell = new Shell({ directory, cwd, env, treeKill });
  const events = { onOutput: () => undefined, onCommandEnd: () => undefined, onShellEnd: () => undefined };
  shell.serve(events, cwd);
  await until(() => processesNaming(join(directory, 'rc')).some((line) => line.startsWith('bash')));
  await new Promise<void>((resolve) => {
    shell.serve({ ...events, onCommandEnd: () => resolve() }, cwd);
    const command = { runtime: 'terminal', code: 'true', flush: false, tools: null } as const;
    void shell.prepare(command).then((handOver) => handOver?.());
  });
  rmSync(directory, { recursive: true, force: true });
  // It waits in the channel that it has open: what comes out of that is no command of its nonce.
  process.kill(shell.shellPid ?? 0, 'SIGINT');
  await until(() => !processesNaming(join(directory, 'rc')).some((line) => line.startsWith('bash')));
  await shell.end();
});

test('a command whose folder is removed at the last moment does not run, and its shell ends', async () => {
  const { cwd, env, treeKill } = t.host.options;
  const shell = new Shell({ directory: join(t.dataDir, 'shell'), cwd, env, treeKill });
  let output = '';
  const exitCode = new Promise((resolve) =>
    shell.serve(
      { onOutput: (data) => (output += data.toString()), onCommandEnd: resolve, onShellEnd: resolve },
      join(cwd, 'gone'),
    ),
  );
  const code = `touch '${cwd}/ran'; (exit 0)`;
  const handOver = await shell.prepare({ runtime: 'terminal', code, flush: false, tools: null });
  handOver?.();
  expect(await exitCode).toBe(71);
  await shell.end();
  expect(output).toBe(
    `terminal_failed: The terminal could not be started: the working folder ${cwd}/gone cannot be entered. ` +
      'Close the session to begin it in another. ' +
      'Next: Run `holdfast doctor`.\r\n',
  );
  expect(existsSync(join(cwd, 'ran'))).toBe(false);
});

test('when a spare is taken another takes its place, and sessions that find none start as ever', async () => {
  await untilSpare();
  const all = await Promise.all([1, 2, 3].map((session) => outputOf(session, `echo ${session}`)));
  expect(all).toEqual(['1\n', '2\n', '3\n']);
  // One that became a session's keeps the name it was started with.
  await until(() => spares().length === 2);
});

test('a reset of a session that took the spare leaves nothing of it running, and the next shell is fresh', async () => {
  await untilSpare();
  await host.run(t.ref, { id: 'long', runtime: 'terminal', code: 'setsid sleep 12321 & sleep 12321' });
  await until(() => processesNaming('sleep 12321').length === 2);
  await host.reset(t.ref, { id: 'r', reason: null, by: 'reset' });
  expect(processesNaming('sleep 12321')).toEqual([]);
  expect(await t.run('echo next')).toMatchObject({ output: 'next\n', epoch: 2, freshShell: true });
});

test('a spare ends with its worker, killed or not, and what a killed one left is removed by the next', async () => {
  await host.endSpare();
  expect([spares(), files()]).toEqual([[], []]);
  const worker = runDist(
    `const { SessionHost } = load('exec/host/session-host');
     new SessionHost({ ...JSON.parse(args[0]), keepSpare: true });
     setInterval(() => undefined, 1e6); console.log('up');`,
    JSON.stringify(t.host.options),
  );
  await worker.nextLine();
  await untilSpare();
  const left = ownerOfSpare();
  worker.child.kill('SIGKILL');
  await until(() => !isAlive(left));
  // What it had just forked bears its command line for a moment longer.
  await until(() => spares().length === 0);
  const next = new SessionHost({ ...t.host.options, keepSpare: true });
  await next.endSpare();
  expect(existsSync(join(t.dataDir, 'spares')) && files()).toEqual([]);
});

test('killing a spare has no effect on anyone', async () => {
  await untilSpare();
  process.kill(ownerOfSpare().pid, 'SIGKILL');
  expect(await outputOf(1, 'echo fine')).toBe('fine\n');
});

test('one that does not say that it is ready keeps no session waiting, and is ended', async () => {
  await untilSpare();
  await host.endSpare();
  const other = new SessionHost({ ...host.options, keepSpare: true });
  const { pid } = (other as unknown as { spare: { spare: { process: { pid: number } } } }).spare.spare
    .process;
  process.kill(pid, 'SIGSTOP');
  await other.run({ ...t.ref, session: 1 }, { id: 'c1', runtime: 'terminal', code: 'echo fine' });
  const ref = { ...t.ref, session: 1 };
  expect((await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 }, ref)).output).toBe('fine\n');
  await until(() => !existsSync(`/proc/${pid}`));
  await other.endSpare();
  other.detach();
}, 15_000);

test('one that cannot start keeps no session waiting', async () => {
  const config = files().find((file) => file.endsWith('.json')) ?? '';
  rmSync(join(t.dataDir, 'spares', config));
  expect(await outputOf(1, 'echo fine')).toBe('fine\n');
}, 15_000);

test('the worker of another host on the same data leaves a spare alone that is just starting', async () => {
  const other = new SessionHost({ ...t.host.options, keepSpare: true });
  await until(() => spares().length === 2 && shells().length === 2);
  expect(spares().length).toBe(2);
  await other.endSpare();
  other.detach();
}, 15_000);

test('a session that took the spare leaves nothing of it, and keeps what its earlier holder said', async () => {
  const { holderLog } = sessionPaths(t.dataDir, { ...t.ref, session: 1 });
  await untilSpare();
  await outputOf(1, ':');
  writeFileSync(holderLog, 'said before\n', { flag: 'a' });
  await host.close({ ...t.ref, session: 1 }, 'done');
  await host.endSpare();
  expect(files()).toEqual([]);
  const next = new SessionHost({ ...host.options, keepSpare: true });
  await untilSpare();
  await next.run({ ...t.ref, session: 1 }, { id: 'again', runtime: 'terminal', code: ':' });
  expect(readFileSync(holderLog, 'utf8')).toContain('said before\n');
  await next.endSpare();
  next.detach();
});

test('a session that is closed before its first command leaves nothing of the spare', async () => {
  await untilSpare();
  const open = host as unknown as { openHolder(ref: TestHost['ref'], cwd: null): Promise<unknown> };
  await open.openHolder(t.ref, null);
  await host.close(t.ref, 'done');
  await host.endSpare();
  expect([processesNaming(join(t.dataDir, 'spares')), files()]).toEqual([[], []]);
});

test('two commands that open a session in the same moment share its one holder', async () => {
  const cold = new SessionHost(t.host.options);
  const run = (id: string): Promise<unknown> =>
    cold.run(t.ref, { id, runtime: 'terminal', code: 'read -r x' });
  const outcomes = await Promise.allSettled([run('a'), run('b')]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'busy' } });
  expect(holdersNaming(join(t.dataDir, 'sessions'))).toHaveLength(1);
  cold.detach();
});
