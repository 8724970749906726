// A team's server: Temporal on PostgreSQL, as scripts/cluster.sh starts it, and two workers for agents.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { turnWorkflowId } from '../../contracts/ids';
import { packageRoot } from '../../system/package-root';
import { isAlive } from '../../system/processes/process-identity';
import { ensureWorker, stopWorker } from '../../workers/process/worker-process';
import { runningWorker } from '../../workers/process/worker-record';
import { below, explaining, median, timed, type Row } from '../measure';
import { residentMb } from '../processes';
import { uniqueId, until, withWorkers, type Bench } from '../setting';
import { openAgents } from './idle-agents';
import { quickExec } from './steps';

const ROUNDS = 3;
const OPEN = 1_000;
/** By then everything that the last turns left to do is done. */
const IDLE_MS = 10_000;
/** Heartbeats of model calls and tools: no worker is given up before. */
const HEARTBEAT_MS = 10_000;
const MODEL_MS = 500;

/** No rows where PostgreSQL or Go is missing. */
export async function cluster(): Promise<Row[]> {
  const script = join(packageRoot(), 'scripts', 'cluster.sh');
  const env = { ...process.env, HOLDFAST_CLUSTER: mkdtempSync('/var/tmp/holdfast-cluster-bench-') };
  const { status, stderr } = spawnSync(script, ['check'], { env, encoding: 'utf8' });
  if (status !== 0) process.stderr.write(stderr);
  if (status !== 0) return [];
  const rows: Row[] = [];
  // It ends with its standard input, so whenever we do.
  const running = spawn(script, ['run'], { env, detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [said] = (await once(running.stdout, 'data')) as [Buffer];
    const address = said.toString().trim().replace('TEMPORAL_ADDRESS=', '');
    const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-bench-team-'));
    await withWorkers({ dataDir, address, server: NaN }, async (bench) => {
      rows.push({
        ...(await quickExec(bench, 1.3)),
        name: 'quick exec on PostgreSQL / update -> activity -> result',
      });
      rows.push(...(await killedForGood(bench, address)), ...(await besideOpenAgents(bench)));
    });
  } finally {
    const ended = once(running, 'close');
    running.stdin.end();
    await ended;
  }
  return rows;
}

/** The start of a worker whose predecessor was killed, with many agents open and with none, and its memory with them. */
async function besideOpenAgents(bench: Bench): Promise<Row[]> {
  const base = median([await boot(bench), await boot(bench), await boot(bench)]);
  await openAgents(bench, OPEN);
  await delay(IDLE_MS);
  const memory = residentMb((await bench.worker()).identity.pid);
  const ours = median([await boot(bench), await boot(bench), await boot(bench)]);
  return [
    explaining('worker killed: start of the next, 1,000 agents open / none', { ours, base }),
    below('- memory of the worker that ran a turn of each, idle (RSS)', memory, 'MB', 500),
  ];
}

async function boot({ worker }: Bench): Promise<number> {
  const { identity } = await worker();
  process.kill(identity.pid, 'SIGKILL');
  await until(() => !isAlive(identity));
  return timed(worker);
}

/** From the end of the worker that runs a turn's model call to the turn's answer by another. */
async function killedForGood(bench: Bench, address: string): Promise<Row[]> {
  const other = mkdtempSync(join(tmpdir(), 'holdfast-bench-other-'));
  const file = join(other, 'replies.json');
  writeFileSync(file, JSON.stringify([{ text: 'done', delayMs: MODEL_MS }]));
  const startOther = (): Promise<unknown> =>
    ensureWorker({ dataDir: other, address, namespace: 'default', host: null, env: process.env });
  const round = async (signal: NodeJS.Signals): Promise<number> => {
    await Promise.all([bench.worker(), startOther()]);
    const id = uniqueId('moves');
    const agent = bench.client.agent(id);
    await agent.start({ task: 'x', model: `scripted:${file}` });
    const pid = await workerOf(bench, id);
    process.kill(pid, signal);
    const took = await timed(() => agent.result());
    if (signal === 'SIGSTOP') process.kill(pid, 'SIGKILL');
    for (const dataDir of [bench.dataDir, other])
      await until(() => runningWorker(dataDir)?.identity.pid !== pid);
    return took - MODEL_MS;
  };
  const times = { SIGKILL: [] as number[], SIGSTOP: [] as number[] };
  try {
    for (let n = 0; n < ROUNDS; n++)
      for (const signal of ['SIGKILL', 'SIGSTOP'] as const) times[signal].push(await round(signal));
  } finally {
    await stopWorker(other);
    rmSync(other, { recursive: true, force: true });
  }
  const limit = HEARTBEAT_MS + 5_000;
  return [
    below(
      `worker killed for good: its turn goes on elsewhere, slowest of ${ROUNDS}`,
      Math.max(...times.SIGKILL),
      'ms',
      limit,
    ),
    below(`worker silent, its connections open: the same`, Math.max(...times.SIGSTOP), 'ms', limit),
  ];
}

/** The pid of the worker that runs the model call of an agent's first turn. */
async function workerOf({ client }: Bench, id: string): Promise<number> {
  for (;;) {
    const turn = client.temporal.workflow.getHandle(turnWorkflowId(id, 1));
    const described = await turn.describe().catch(() => undefined);
    const activity = described?.raw.pendingActivities?.find((each) => each.lastStartedTime);
    const pid = Number.parseInt(activity?.lastWorkerIdentity ?? '', 10);
    if (activity?.activityType?.name === 'callModel' && pid) return pid;
  }
}
