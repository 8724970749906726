// Scripts that call tools: one call, many, large ones, and the cost for scripts that call none.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionHandle } from '../../client/session-handle';
import { LOCAL_HOST } from '../../contracts/ids';
import { detectTreeKill } from '../../exec/processes/process-tree';
import { sessionEnvironment } from '../../exec/host/session-environment';
import { SessionHost } from '../../exec/host/session-host';
import { StubFolder } from '../../exec/host/stub-folder';
import { atLeast, atMost, below, explaining, inTurn, median, timed, type Row } from '../measure';
import { bareSession, uniqueId, type Bench } from '../setting';

const ROUNDS = 6;
const CALLS = 20;
const IN_A_ROW = 200;
const AT_ONCE = 8;
/** A measured script prints nothing before its end. */
const PATIENCE_MS = 300_000;

export async function toolCalls(bench: Bench): Promise<Row[]> {
  writeFileSync(join(bench.dataDir, 'small'), 'small');
  writeFileSync(join(bench.dataDir, 'large'), 'x'.repeat(1_000_000));
  const session = bench.client.session({ agent: uniqueId('scripts'), session: 0 }, { cwd: bench.dataDir });
  const bare = bench.client.temporal.workflow.getHandle(await bareSession(bench));
  const base = (): Promise<number> => timed(() => bare.executeUpdate('exec', { args: [{ code: 'true' }] }));
  const baseMedian = async (): Promise<number> => median(await inSequence(CALLS, base));

  await inTurn(1, () => perCall(session, CALLS), baseMedian);
  const one = await inTurn(ROUNDS, () => perCall(session, CALLS), baseMedian);
  const many = await inTurn(
    2,
    () => perCall(session, IN_A_ROW),
    async () => median(await inSequence(IN_A_ROW, base)),
  );
  const rates = await inTurn(
    ROUNDS,
    () => rate(session, AT_ONCE),
    () => rate(session, 1),
  );
  const large = await inTurn(
    ROUNDS,
    () => perCall(session, 5, 'large'),
    () => perCall(session, 5),
  );
  await bare.signal('end');
  await session.close('measured');
  return [
    atMost('one call from a script / update -> activity -> result', one, 1.3),
    explaining(`${IN_A_ROW} calls in a row, each / as many bare ones, each`, many),
    atLeast(`${AT_ONCE} calls at once / one after the other, calls a second`, rates, 2.5, '1/s'),
    explaining('a call with a result of 1 MB / of 5 bytes', large),
    below('import of the stubs, above a bare start of python', await importCost(bench), 'ms', 30),
    ...(await withoutCalls(bench)),
  ];
}

async function inSequence(count: number, work: () => Promise<number>): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) times.push(await work());
  return times;
}

/** The median time of a call in milliseconds, measured by the script itself. */
const perCall = (session: SessionHandle, calls: number, file = 'small'): Promise<number> =>
  printed(
    session,
    `def once():
    began = time.perf_counter()
    codex_tools.read_file(file_path="${file}")
    return (time.perf_counter() - began) * 1000
once()
print(statistics.median(once() for _ in range(${calls})))`,
  );

/** Calls per second. */
const rate = (session: SessionHandle, atOnce: number): Promise<number> =>
  printed(
    session,
    `from concurrent.futures import ThreadPoolExecutor
count = ${atOnce} * 8
codex_tools.read_file(file_path="small")
with ThreadPoolExecutor(${atOnce}) as pool:
    began = time.perf_counter()
    list(pool.map(lambda _: codex_tools.read_file(file_path="small"), range(count)))
    print(count / (time.perf_counter() - began))`,
  );

async function printed(session: SessionHandle, code: string): Promise<number> {
  const { output, exitCode } = await session.exec({
    runtime: 'python',
    yield: { firstOutputMs: PATIENCE_MS, maxMs: PATIENCE_MS },
    code: `import codex_tools, statistics, time\n${code}`,
  });
  if (exitCode !== 0) throw new Error(output);
  return Number(output.trim());
}

const stubsOf = ({ dataDir }: Bench): string => join(dataDir, 'stubs', LOCAL_HOST, 'current');

async function importCost(bench: Bench): Promise<number> {
  const env = { ...sessionEnvironment(process.env), PYTHONPATH: join(stubsOf(bench), 'python') };
  const start = (code: string) => (): Promise<number> =>
    timed(() => Promise.resolve(execFileSync('python3', ['-c', code], { env })));
  await inTurn(2, start('import codex_tools'), start('pass'));
  const { ours, base } = await inTurn(30, start('import codex_tools'), start('pass'));
  return ours - base;
}

/** The same in a session that offers tools and in one that does not, without Temporal. */
async function withoutCalls(bench: Bench): Promise<Row[]> {
  const options = {
    dataDir: bench.dataDir,
    cwd: bench.dataDir,
    env: sessionEnvironment(process.env),
    treeKill: detectTreeKill(),
  };
  const stubs = new StubFolder(join(bench.dataDir, 'stubs', LOCAL_HOST));
  const hosts = [new SessionHost({ ...options, stubs }), new SessionHost(options)];
  const agent = uniqueId('offered');
  const [ours, base] = hosts.map((host, session) => {
    const ref = { agent, host: LOCAL_HOST, session };
    return (code: string) => () => timed(() => runToEnd(host, ref, code));
  }) as [Timed, Timed];
  await inTurn(20, ours('true'), base('true'));
  const command = await inTurn(300, ours('true'), base('true'));
  const script = await inTurn(60, ours('python3 -c pass'), base('python3 -c pass'));
  for (const [session, host] of hosts.entries()) {
    await host.close({ agent, host: LOCAL_HOST, session }, 'measured');
    host.detach();
  }
  return [
    atMost('a script that calls nothing, tools offered / not offered', script, 1.05),
    explaining('- the same of `true`', command),
  ];
}

type Timed = (code: string) => () => Promise<number>;

async function runToEnd(
  host: SessionHost,
  ref: { agent: string; host: string; session: number },
  code: string,
): Promise<void> {
  await host.run(ref, { id: uniqueId('c'), runtime: 'terminal', code });
  await host.observe(ref, { kind: 'exit', from: 0, timeoutMs: 10_000 });
}
