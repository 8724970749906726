// `npm run bench`: Holdfast against bare Temporal and bare node-pty, in one run on one server.
import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import * as pty from 'node-pty';
import { HoldfastClient } from '../client/holdfast-client';
import { defaultCacheDir } from '../engine/data-dir';
import { ensureServer, stopServer } from '../engine/server';
import { detectTreeKill } from '../exec/holder/process-tree';
import { logEnd } from '../exec/log-reader';
import { SessionHost } from '../exec/session-host';
import { sessionPaths } from '../exec/session-paths';
import { ensureWorker, runningWorker, stopWorker } from '../workers/worker-process';
import { atMost, inTurn, median, printTable, timed, type Row } from './measure';

const FLOOD_BYTES = 50_000_000;
/** Lines of 100 bytes, as fast as a program can print them. */
const FLOOD = `yes ${'x'.repeat(99)} | head -c ${FLOOD_BYTES}`;
const STEPS = 20;

interface Bench {
  client: HoldfastClient;
  dataDir: string;
  address: string;
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  const { address } = await ensureServer({
    dataDir,
    cacheDir: defaultCacheDir(process.env),
    env: process.env,
    progress,
  });
  const worker = { dataDir, address, namespace: 'default', workdir: dataDir, env: process.env };
  await ensureWorker(worker);
  const bare = await startBareWorker(address);
  const client = await HoldfastClient.connect({ address }, {});
  const bench = { client, dataDir, address };
  const rows: Row[] = [];
  try {
    for (const measure of [quickExec, turnStep, flood, () => reattach(bench, () => ensureWorker(worker))]) {
      rows.push(await measure(bench));
      progress(`measured: ${rows.at(-1)?.name}`);
    }
  } finally {
    bare.kill('SIGTERM');
    await client.close();
    await stopWorker(dataDir);
    const host = new SessionHost({ dataDir, cwd: '/', env: {}, treeKill: detectTreeKill() });
    await host.closeAll('the bench has ended');
    host.detach();
    await stopServer(dataDir);
    rmSync(dataDir, { recursive: true, force: true });
  }
  const machine = `${cpus().length} cores, ${(totalmem() / 1024 ** 3).toFixed(0)} GiB, Node ${process.versions.node}`;
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ machine, rows })}\n`);
  else printTable(rows, machine);
}

function startBareWorker(address: string): Promise<ChildProcess> {
  const child = fork(join(__dirname, 'bare-worker.js'), [address]);
  return new Promise((resolve, reject) => {
    child.once('message', () => resolve(child));
    child.once('exit', (code) => reject(new Error(`the bare worker ended with ${code}`)));
  });
}

async function bareSession({ client }: Bench): Promise<string> {
  const workflowId = `bare-session-${Date.now()}`;
  await client.temporal.workflow.start('bareSession', { workflowId, taskQueue: 'bare' });
  return workflowId;
}

async function quickExec(bench: Bench): Promise<Row> {
  const session = bench.client.session({ agent: 'bench', session: 0 });
  const bare = bench.client.temporal.workflow.getHandle(await bareSession(bench));
  const ours = (): Promise<number> => timed(() => session.exec({ code: 'true' }));
  const base = (): Promise<number> => timed(() => bare.executeUpdate('exec', { args: [{ code: 'true' }] }));
  await inTurn(10, ours, base);
  const result = await inTurn(100, ours, base);
  await bare.signal('end');
  return atMost('quick exec / update -> activity -> result', result, 2);
}

async function turnStep(bench: Bench): Promise<Row> {
  const args = { runtime: 'terminal', session: 0, code: 'true' };
  const reply = JSON.stringify({
    thoughts: [],
    headline: 'step',
    tool_name: 'code_execution_tool',
    tool_args: args,
  });
  const file = join(bench.dataDir, 'replies.yaml');
  writeFileSync(
    file,
    JSON.stringify([...Array.from({ length: STEPS }, () => ({ text: reply })), { text: 'done' }]),
  );
  const session = await bareSession(bench);
  let runs = 0;
  const ours = async (): Promise<number> => {
    const agent = bench.client.agent(`bench-${++runs}`);
    const total = await timed(async () => {
      await agent.start({ task: 'x', model: `scripted:${file}`, keep: true });
      await agent.result();
    });
    await bench.client.session({ agent: `bench-${runs}`, session: 0 }).close('measured');
    return total / STEPS;
  };
  const base = async (): Promise<number> => {
    const options = {
      workflowId: `bare-turn-${++runs}`,
      taskQueue: 'bare',
      args: [{ steps: STEPS, session }],
    };
    return (await timed(() => bench.client.temporal.workflow.execute('bareTurn', options))) / STEPS;
  };
  await inTurn(1, ours, base);
  const result = await inTurn(7, ours, base);
  await bench.client.temporal.workflow.getHandle(session).signal('end');
  return atMost('turn step / bare workflow with as many durable steps', result, 1.5);
}

async function flood(bench: Bench): Promise<Row> {
  const session = bench.client.session({ agent: 'bench', session: 1 });
  const settings = { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000 };
  const ours = (): Promise<number> => timed(() => session.exec({ code: FLOOD, yield: settings }));
  await session.exec({ code: 'true' });
  const result = await inTurn(5, ours, () => timed(barePtyFlood));
  const rate = (ms: number): number => FLOOD_BYTES / 1e6 / (ms / 1e3);
  const [mine, base] = [rate(result.ours), rate(result.base)];
  const name = '50 MB flood / bare node-pty';
  return {
    name,
    ours: mine,
    base,
    unit: 'MB/s',
    ratio: mine / base,
    target: 'at least 0.7x',
    met: mine / base >= 0.7,
  };
}

function barePtyFlood(): Promise<void> {
  return new Promise((resolve, reject) => {
    const terminal = pty.spawn('sh', ['-c', `${FLOOD}; read -r _`], { encoding: null, cols: 120, rows: 40 });
    let bytes = 0;
    terminal.onData((data) => {
      bytes += data.length;
      // Each line's end takes one byte more on a terminal.
      if (bytes < FLOOD_BYTES * 1.01) return;
      terminal.kill('SIGKILL');
      resolve();
    });
    terminal.onExit(() =>
      bytes < FLOOD_BYTES * 1.01 ? reject(new Error(`flood ended at ${bytes}`)) : undefined,
    );
  });
}

/** From the new worker's first poll to the answer of a command that ended while no worker lived. */
async function reattach(
  { client, dataDir }: Bench,
  restart: () => Promise<{ pollingSince: number }>,
): Promise<Row> {
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const ref = { agent: 'bench', host: 'local', session: 10 + round };
    const { log } = sessionPaths(dataDir, ref);
    const running = client.session(ref).exec({ code: 'echo begun; sleep 0.3; echo ended' });
    while (logEnd(log) < 'begun\r\n'.length) await new Promise((resolve) => setTimeout(resolve, 5));
    process.kill(runningWorker(dataDir)?.identity.pid ?? 0, 'SIGKILL');
    while (logEnd(log) < 'begun\r\nended\r\n'.length) await new Promise((resolve) => setTimeout(resolve, 5));
    const { pollingSince } = await restart();
    await running;
    times.push(Date.now() - pollingSince);
  }
  const ours = median(times);
  const name = 'worker killed: first poll of the next to the answer';
  return { name, ours, base: null, unit: 'ms', ratio: ours, target: 'under 1000 ms', met: ours < 1_000 };
}

void main();
