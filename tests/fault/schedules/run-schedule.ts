// Runs one schedule on a server and a worker of its own, and returns its history.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { packageRoot } from '../../../system/package-root';
import { endDataFolder } from '../../helpers/engines/end-data-folder';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { scratch } from '../../helpers/engines/temporal';
import { replayAll } from '../../helpers/engines/replay-all';
import { processesMarked } from '../../integration/exec/session-processes';
import { AgentWorker } from './agent-worker';
import { FaultInjector } from './fault-injector';
import type { History } from './history';
import { Recorder } from './recorder';
import type { FaultKind, Schedule, WorkerPlan } from './schedule';
import { SessionWorker } from './session-worker';

const TOOLS = join(packageRoot(), 'tests', 'fixtures', 'effect-tools.mjs');
/** See jest.config.js. */
declare const PATIENCE: number;
/** The longest that all work may take: nothing in a schedule takes a tenth of it without faults. */
const WORK_MS = 150_000 * PATIENCE;

export interface Finished {
  history: History;
  /** What happened when, for people. */
  events: string[];
  /** The faults that met what they are meant for. */
  hits: ReadonlySet<FaultKind>;
}

/** `plant`: a fault that the check has to find, planted when the work is done. */
export async function runSchedule(
  { workers: plans, faults }: Schedule,
  plant: (place: { dataDir: string; folder: string }) => void = () => undefined,
): Promise<Finished> {
  const engine = new EngineOfItsOwn({ ownServer: true });
  const recorder = new Recorder();
  const files = scratch();
  const servers = (): number[] => processesMarked(`mcp ${recorder.folder}`).map((line) => parseInt(line, 10));
  const injector = new FaultInjector({ engine, recorder, servers }, faults);
  try {
    await startEngine(engine, recorder);
    const make = (plan: WorkerPlan): SessionWorker | AgentWorker =>
      plan.kind === 'session'
        ? new SessionWorker(engine, recorder, plan)
        : new AgentWorker({ engine, recorder, files }, plan);
    const workers = plans.map((plan) => ({ id: plan.id, worker: make(plan) }));
    injector.start();
    const ends = await Promise.all(workers.map(({ id, worker }) => endOf(id, worker, recorder)));
    await injector.end();
    plant({ dataDir: engine.dataDir, folder: recorder.folder });
    for (const [index, { id, worker }] of workers.entries()) {
      const ended = ends[index] ?? null;
      if (ended === null && worker instanceof AgentWorker) await worker.noteState();
      recorder.history.workers.push({ id, effects: worker.effects(), ofTools: worker.ofTools(), ended });
      if (worker instanceof SessionWorker && ended !== null) await afterwards(worker);
    }
    const { workflows, failed } = await replayAll(engine.client);
    recorder.note(`${workflows} histories replayed`);
    recorder.history.unreplayed.push(...failed);
  } finally {
    recorder.history.left.push(...(await leftOver(engine, recorder)));
    recorder.history.effects = recorder.linesOf(recorder.effectsFile);
    files.remove();
    recorder.remove();
  }
  return { history: recorder.history, events: recorder.events, hits: injector.hits };
}

async function startEngine(engine: EngineOfItsOwn, { folder }: Recorder): Promise<void> {
  await engine.startServer();
  const args = JSON.stringify([TOOLS, 'mcp', folder]);
  engine.configure(
    `[tools]\nmodules = [${JSON.stringify(TOOLS)}]\n` +
      `[mcp_servers.effects]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`,
  );
  await engine.start();
}

/** How a worker ended; null if it did not in time. */
async function endOf(
  id: string,
  worker: SessionWorker | AgentWorker,
  recorder: Recorder,
): Promise<string | null> {
  const over = new AbortController();
  const work = worker.work().then(
    (how) => how ?? 'all steps taken',
    (err: unknown) => {
      recorder.history.odd.push(`${id}: ${String(err)}`);
      return 'failed';
    },
  );
  const tooLong = delay(WORK_MS, null, { signal: over.signal }).catch(() => null);
  const end = await Promise.race([work, tooLong]);
  over.abort();
  recorder.note(`${id} ended: ${end}`);
  return end;
}

async function afterwards(worker: SessionWorker): Promise<void> {
  await worker.repeat();
  worker.readLog();
  await worker.close();
}

/** What is still there when everything was ended. */
async function leftOver(engine: EngineOfItsOwn, { folder }: Recorder): Promise<string[]> {
  await endDataFolder(engine.dataDir);
  const sockets = readdirSync(engine.dataDir, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.sock'),
  );
  return [...(await engine.end()), ...processesMarked(folder), ...sockets];
}
