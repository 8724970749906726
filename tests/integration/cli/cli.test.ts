import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandView } from '../../../contracts/sessions/session';
import { runningWorker, workerPaths } from '../../../workers/process/worker-record';
import { packageRoot, packageVersion } from '../../../system/package-root';
import type { CliResult } from '../../helpers/engines/command-lines';
import { EngineOfItsOwn, processesNaming } from '../../helpers/engines/engine-of-its-own';
import { call } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn({ ownServer: true });
let cwd: string;

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'holdfast-cli-'));
});
afterAll(async () => {
  const left = await engine.end();
  rmSync(cwd, { recursive: true, force: true });
  expect(left).toEqual([]);
}, 60_000);

const hf = (...args: string[]): Promise<CliResult> => engine.cliInTurn(args, { cwd });
/** In a process of its own: where that is the point. */
const hfAlone = (...args: string[]): Promise<CliResult> => engine.cli(args, { cwd });
const logged = (session: string): string =>
  readFileSync(join(engine.dataDir, 'sessions', `cli.local.${session}`, 'log'), 'utf8');
const json = (result: CliResult): CommandView => JSON.parse(result.stdout) as CommandView;

test('two commands at once on an empty data folder start one server and one worker, and both succeed', async () => {
  const [one, two] = await Promise.all([
    hfAlone('exec', '--session', '1', 'echo one'),
    hfAlone('exec', '--session', '2', 'echo two'),
  ]);
  expect([one, two]).toMatchObject([
    { code: 0, stdout: 'one\n' },
    { code: 0, stdout: 'two\n' },
  ]);
  const running = (program: string): number =>
    processesNaming(engine.dataDir).filter((line) => line.includes(program)).length;
  expect(running('start-dev')).toBe(1);
  // A child that it begins has its command line until it runs its own program.
  await until(() => running('workers/process/serve.js') === 1);
}, 60_000);

test('exec prints output as it arrives, starts in the caller’s folder, and passes on the exit code', async () => {
  expect(await hfAlone('exec', '--session', '3', 'pwd; exit 7')).toMatchObject({
    code: 7,
    stdout: `${cwd}\n`,
  });
  expect(
    await hfAlone('exec', '--runtime', 'python', '--session', '4', 'print("hi"); raise SystemExit(5)'),
  ).toMatchObject({ code: 5, stdout: 'hi\n' });
});

test('the JSON of exec, output, input and reset holds what programs need', async () => {
  const exec = json(
    await hf('exec', '--session', '5', '--yield-ms', '5000', '--json', 'read -r a; echo "got $a"; sleep 100'),
  );
  expect(exec).toMatchObject({
    state: 'waiting_input',
    exitCode: null,
    signal: null,
    from: 0,
    epoch: 1,
    yielded: 'waiting_input',
    waiting: { echo: true },
    killedBy: null,
  });
  const input = json(await hf('input', '--session', '5', '--json', 'yes'));
  expect(input).toMatchObject({ state: 'running', output: 'yes\ngot yes\n', to: 14 });
  const output = json(await hf('output', '--session', '5', '--from', '5', '--json'));
  expect(output).toMatchObject({ state: 'running', output: 'got yes\n', from: 5, to: 14 });
  const reset = json(await hf('reset', '--session', '5', '--reason', 'enough', '--json'));
  expect(reset).toMatchObject({ state: 'exited', killedBy: { by: 'reset', reason: 'enough' }, epoch: 2 });
});

test('output waits for a pattern, and --from prints everything from there however long', async () => {
  await hf(
    'exec',
    '--session',
    '6',
    '--yield-ms',
    '0',
    'for i in $(seq 1 60000); do echo "line $i"; done; read -r x',
  );
  const waited = await hf('output', '--session', '6', '--wait', 'pattern:line 60000', '--wait-ms', '20000');
  expect(waited).toMatchObject({ code: 0, stdout: expect.stringContaining('line 60000') as string });
  const all = (await hf('output', '--session', '6', '--from', '0')).stdout.split('\n');
  expect(all.slice(0, 60_000).findIndex((line, index) => line !== `line ${index + 1}`)).toBe(-1);
  expect((await hf('input', '--session', '6', '--key', 'ctrl-c')).code).toBe(0);
});

test.each([
  [64, 'invalid_input', ['exec', '--runtime', 'ruby', 'x'], /got ruby, allowed terminal, python, nodejs/],
  [64, 'invalid_input', ['exec', '--session', '1.5', 'x'], /got "1.5", allowed a whole number/],
  [64, 'invalid_input', ['exec', '--session=-1', 'x'], /got "-1", allowed a whole number/],
  [64, 'invalid_input', ['exec', '--agent', '../up', 'x'], /agent id is invalid: got "..\/up"/],
  [64, 'invalid_input', ['exec', ''], /must hold at least one command/],
  [64, 'invalid_input', ['frobnicate'], /unknown command/],
  [
    64,
    'invalid_input',
    ['output', '--wait', 'sometime'],
    /allowed exit, output, idle, needs_input or pattern:RE/,
  ],
  [64, 'invalid_input', ['input', '--key', 'ctrl-q'], /got ctrl-q, allowed enter/],
  [65, 'no_running_process', ['input', '--session', '1', 'y'], /nothing was typed/],
  [65, 'offset_out_of_range', ['output', '--session', '1', '--from', '99999'], /got 99999, allowed 0 to/],
  [66, 'not_found', ['output', '--session', '999'], /got exec\/cli\/local\/999/],
  [78, 'model_unknown', ['run', 'x', '--model', 'oracle:delphi'], /allowed scripted:NAME/],
  [78, 'model_script_invalid', ['run', 'x', '--model', 'scripted:absent.yaml'], /no such file/],
])('exit code %i and %s with what is allowed and what to do, for %j', async (code, name, args, message) => {
  const plain = await hf(...args);
  expect(plain.code).toBe(code);
  expect(plain.stderr).toMatch(message);
  expect(plain.stderr).toMatch(new RegExp(`holdfast: ${name}: .* Next: `));
  const { error } = JSON.parse((await hf(...args, '--json')).stderr) as {
    error: { code: string; next: string };
  };
  expect(error.code).toBe(name);
  expect(error.next).not.toContain('undefined');
});

test('a scripted file with faults is refused before anything starts, with every fault', async () => {
  writeFileSync(join(cwd, 'faulty.yaml'), '- txt: hi\n- expect: "("\n  text: x\n- delayMs: -1\n  text: y\n');
  const { code, stderr } = await hf('run', 'x', '--model', 'scripted:faulty.yaml');
  expect(code).toBe(78);
  expect(stderr).toMatch(/reply 1: an unknown key.*reply 2.*not a regular expression.*reply 3.*delayMs/);
});

test('a named port that is taken is refused and starts nothing', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const taken = String((server.address() as { port: number }).port);
  const elsewhere = mkdtempSync(join(tmpdir(), 'holdfast-port-'));
  const { code, stderr } = await hf('up', '--data', elsewhere, '--port', taken);
  const forPrograms = await hf('up', '--data', elsewhere, '--port', taken, '--json');
  server.close();
  expect(JSON.parse(forPrograms.stderr)).toMatchObject({ error: { code: 'port_in_use' } });
  expect({ code, stderr }).toMatchObject({
    code: 71,
    stderr: expect.stringContaining(`got ${taken}, allowed a free port`) as string,
  });
  expect(processesNaming(elsewhere)).toEqual([]);
  rmSync(elsewhere, { recursive: true, force: true });
}, 60_000);

test.each([
  [
    'a server that is named and missing',
    { HOLDFAST_TEMPORAL_CLI: '/nowhere/temporal' },
    [],
    'engine_missing',
  ],
  ['a server that cannot be built', { PATH: '/nowhere', HOLDFAST_NO_DOWNLOAD: '1' }, [], 'engine_missing'],
  ['a faulty configuration', {}, ['--config', 'bad.toml'], 'config_invalid'],
])(
  'with --json %s is one JSON object on stderr, and nothing is started',
  async (_what, env, args, code) => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'holdfast-none-'));
    writeFileSync(join(cwd, 'bad.toml'), '[storag]\n');
    const failed = await engine.cliInTurn(['up', '--json', '--data', join(elsewhere, 'data'), ...args], {
      cwd,
      env: { XDG_CACHE_HOME: join(elsewhere, 'cache'), ...env },
    });
    expect(failed.stdout).toBe('');
    expect(JSON.parse(failed.stderr)).toMatchObject({ error: { code } });
    expect(processesNaming(elsewhere)).toEqual([]);
    expect(existsSync(join(elsewhere, 'data', 'engine', 'temporal.db'))).toBe(false);
    rmSync(elsewhere, { recursive: true, force: true });
  },
  30_000,
);

test('a reader that has read enough ends the command line quietly, and not the command', async () => {
  const child = engine.spawnCli(['exec', '--session', '9', '--cwd', cwd, 'seq 1 300000; echo whole > whole']);
  const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  child.stdout?.once('data', () => child.stdout?.destroy());
  expect(await ended).toBe(141);
  expect(errors).toBe('');
  await hf('output', '--session', '9', '--wait', 'exit');
  expect(readFileSync(join(cwd, 'whole'), 'utf8')).toBe('whole\n');
});

test('run prints the steps and the answer, and exits 0', async () => {
  const replies = [
    { text: call('code_execution_tool', { runtime: 'terminal', code: 'echo from the shell' }, 'Looking') },
    { expect: 'from the shell', text: 'The answer.' },
  ];
  writeFileSync(join(cwd, 'replies.yaml'), JSON.stringify(replies));
  const { code, stdout } = await hfAlone('run', 'Do it', '--model', 'scripted:replies.yaml');
  expect(stdout).toMatch(
    /task {2}Do it[\s\S]*step {2}Looking[\s\S]*from the shell\n[\s\S]*The answer\.\n\[answered after 2 steps\]/,
  );
  expect(code).toBe(0);
});

test('ps shows what is open and what it is doing', async () => {
  const rows = JSON.parse((await hf('ps', '--json')).stdout) as { workflowId: string; doing: string }[];
  expect(rows).toContainEqual(
    expect.objectContaining({ workflowId: 'exec/cli/local/1', doing: 'idle, last exit code 0, epoch 1' }),
  );
});

test('doctor checks each part and finds this machine in order', async () => {
  const { code, stdout } = await hf('doctor', '--json');
  const checks = JSON.parse(stdout) as { name: string; status: string }[];
  expect(checks.map(({ name }) => name)).toEqual([
    'Node',
    'Temporal server',
    'worker',
    'who reaches it',
    'payloads',
    'node-pty',
    'python3',
    'tree kill',
    'sandbox',
    'private sockets',
    'sessions',
    'session sockets',
    'terminals',
    'workers',
    'session logs',
    'large values',
    'checkpoints',
    'disk',
  ]);
  expect(checks.filter(({ status }) => status === 'fail')).toEqual([]);
  expect(code).toBe(0);
});

test('doctor calls nothing invalid where the home folder lies in the temporary folder and has no data yet', async () => {
  const home = mkdtempSync(join(tmpdir(), 'hömé x '));
  const { stdout } = await engine.cliInTurn(['doctor', '--json'], {
    env: { HOME: home, HOLDFAST_DATA: join(home, 'data') },
  });
  const checks = json({ code: 0, stderr: '', stdout }) as unknown as { name: string; status: string }[];
  rmSync(home, { recursive: true });
  expect(checks.filter(({ status }) => status === 'fail')).toEqual([]);
});

test('up replaces the worker of another release and says so; doctor and ps say which release runs', async () => {
  await hf('exec', '--session', '1', ':');
  const before = runningWorker(engine.dataDir);
  const release = { version: '0.0.1', folder: '/opt/old' };
  writeFileSync(workerPaths(engine.dataDir).record, JSON.stringify({ ...before, release }));
  expect((await hf('doctor')).stdout).toMatch(/warn +worker +pid \d+ of release 0\.0\.1 in \/opt\/old /);
  expect(JSON.parse((await hf('ps', '--json')).stdout)).toContainEqual(
    expect.objectContaining({ worker: { pid: before?.identity.pid, release } }),
  );
  expect((await hf('ps')).stderr).toMatch(/is of release 0\.0\.1 in \/opt\/old; `holdfast up` replaces it/);
  const up = await hf('up', '--json');
  const own = { version: packageVersion(), folder: packageRoot() };
  expect(json(up)).toMatchObject({ release: own, replaced: { release, pid: before?.identity.pid } });
  expect(runningWorker(engine.dataDir)).toMatchObject({ release: own });
  expect(runningWorker(engine.dataDir)?.identity.pid).not.toBe(before?.identity.pid);
  // The same release again: nothing is replaced.
  expect(await hf('up')).toMatchObject({ code: 0, stderr: '' });
}, 60_000);

test('a session without python3 on its PATH says so with the next step, and exits 127', async () => {
  const { code, stdout } = await hf('exec', '--session', '7', 'PATH=/nowhere');
  expect({ code, stdout }).toMatchObject({ code: 0 });
  expect(await hf('exec', '--session', '7', '--runtime', 'python', 'print(1)')).toMatchObject({
    code: 127,
    stdout: expect.stringMatching(
      /missing_program: Runtime python needs python3.*Next: Install python3/,
    ) as string,
  });
});

test('the demo kills its own worker, loses and repeats nothing, and exits 0', async () => {
  const { code, stdout } = await hfAlone('demo');
  expect(stdout).toContain('Nothing was lost, nothing was done twice.');
  expect(stdout).toMatch(/long script {3}20000 lines: 0 lost, 0 repeated, in order/);
  expect(stdout).toMatch(/commands {6}6 run, 0 of them twice/);
  expect(code).toBe(0);
}, 120_000);

test('exec on a host that nobody knows is refused at once, names those that there are, and opens no session', async () => {
  const refused = await hf('exec', '--host', 'nowhere', 'echo ran');
  expect(refused).toMatchObject({ code: 66, stdout: '' });
  expect(refused.stderr).toMatch(/^holdfast: unknown_host: .* got nowhere, allowed /);
  expect((await hf('ps')).stdout).not.toContain('nowhere');
}, 60_000);

test('exec on a remote host prints only the output of its own command', async () => {
  const data = mkdtempSync(join(tmpdir(), 'holdfast-far-'));
  const { address } = engine.server();
  const place = ['--data', data, '--address', address, '--host', 'far', '--workdir', cwd];
  const worker = execFile(process.execPath, [join(packageRoot(), 'bin', 'holdfast.js'), 'worker', ...place]);
  try {
    await until(() => runningWorker(data) !== undefined);
    const far = (code: string): Promise<CliResult> => hf('exec', '--host', 'far', code);
    expect(await far('echo one; sleep 0.1; echo two')).toMatchObject({ code: 0, stdout: 'one\ntwo\n' });
    expect(await far('echo three; exit 4')).toMatchObject({ code: 4, stdout: 'three\n' });
    await hf('close', '--host', 'far');
  } finally {
    worker.kill('SIGTERM');
    await once(worker, 'exit');
    rmSync(data, { recursive: true, force: true });
  }
}, 60_000);

test('exec in a busy session says what runs there, with its recent output and nothing that a terminal obeys', async () => {
  await hf('exec', '--session', '33', '--yield-ms', '1', "printf 'at work \\u202e'; read -r a");
  await hf('output', '--session', '33', '--wait', 'needs_input');
  const busy = await hf('exec', '--session', '33', 'echo intruder');
  expect(busy).toMatchObject({ code: 75, stdout: '' });
  expect(busy.stderr).toMatch(/^holdfast: busy: .* Its recent output:\n {2}at work \\u\{202e\}\n/);
  expect(JSON.parse((await hf('exec', '--session', '33', '--json', 'echo x')).stderr)).toMatchObject({
    error: { code: 'busy', facts: { recent: 'at work \u202e' } },
  });
  await hf('close', '--session', '33');
});

test('wait exits with 0 when what it waits for came, with 75 at its time-out; close ends the session', async () => {
  await hf('exec', '--session', '30', '--yield-ms', '1', 'read -r a; (exit 2)');
  await hf('exec', '--session', '31', '--yield-ms', '1', 'sleep 1000');
  const late = await hf('wait', '30', '31', '--timeout-ms', '100');
  expect(late).toMatchObject({ code: 75, stdout: expect.stringContaining('session 31  not yet') as string });
  await hf('input', '--session', '30', '');
  expect(await hf('wait', '30', '31', '--any')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/session 30 {2}exit {2}exited, exit code 2/) as string,
  });
  const asked = JSON.parse((await hf('wait', '30', '--for', 'exit', '--json')).stdout) as { met: boolean };
  expect(asked.met).toBe(true);
  expect(await hf('close', '--session', '31', '--reason', 'enough')).toMatchObject({ code: 0 });
  expect((await hf('close', '--session', '32')).code).toBe(66);
  expect(existsSync(join(engine.dataDir, 'sessions', 'cli.local.31', 'holder.json'))).toBe(false);
});

test('wait --any reports each session that has ended as ended, also those that it did not have to wait for', async () => {
  for (const session of ['34', '35']) await hf('exec', '--session', session, 'true');
  const { stdout } = await hf('wait', '34', '35', '--any', '--json');
  const { sessions } = JSON.parse(stdout) as { sessions: { reason: string; view: { state: string } }[] };
  expect(sessions.map(({ reason, view }) => [reason, view.state])).toEqual([
    ['exit', 'exited'],
    ['exit', 'exited'],
  ]);
});

test('reset, close and down --sessions begin nothing of the rest of the code; down --sessions leaves no process', async () => {
  const start = async (session: string): Promise<void> => {
    const code = `echo started; sleep 300; echo ran > marker-${session}`;
    expect((await hf('exec', '--session', session, '--yield-ms', '100', code)).code).toBe(0);
    expect((await hf('output', '--session', session, '--wait', 'pattern:started')).code).toBe(0);
  };
  await Promise.all(['50', '51', '52'].map(start));
  expect(await hf('reset', '--session', '50')).toMatchObject({ code: 0 });
  expect(await hf('close', '--session', '51')).toMatchObject({ code: 0 });
  expect((await hfAlone('down', '--sessions')).code).toBe(0);
  expect(processesNaming(engine.dataDir)).toEqual([]);
  expect(readdirSync(cwd).filter((name) => name.startsWith('marker'))).toEqual([]);
  expect(logged('50')).toBe('started\r\n');
  expect(readFileSync(join(engine.dataDir, 'worker.log'), 'utf8')).toContain('ready');
}, 60_000);

test('down --sessions leaves nothing of holders, spares and a worker that were killed', async () => {
  expect((await hfAlone('exec', '--session', '60', '--yield-ms', '100', 'sleep 1000')).code).toBe(0);
  // The spare too: both are processes of the holder's program.
  await until(() => readdirSync(join(engine.dataDir, 'spares')).some((name) => name.endsWith('.json')));
  const holders = processesNaming(engine.dataDir).filter((line) => line.includes('dist/holder.js'));
  expect(holders.length).toBeGreaterThan(0);
  await engine.killWorker();
  const pids = readdirSync('/proc').filter((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return line.includes('dist/holder.js') && line.includes(engine.dataDir);
    } catch {
      return false;
    }
  });
  for (const pid of pids.filter((each) => /^\d+$/.test(each))) process.kill(Number(pid), 'SIGKILL');
  expect(readdirSync(join(engine.dataDir, 'sockets'))).not.toEqual([]);
  expect((await hfAlone('down', '--sessions')).code).toBe(0);
  expect(readdirSync(join(engine.dataDir, 'sockets'))).toEqual([]);
  expect(readdirSync(join(engine.dataDir, 'spares'))).toEqual([]);
  expect(existsSync(join(engine.dataDir, 'sessions', 'cli.local.60', 'holder.json'))).toBe(false);
  expect(processesNaming(engine.dataDir)).toEqual([]);
}, 60_000);
