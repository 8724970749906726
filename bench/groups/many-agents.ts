// Agents that all work at the same time against as many bare workflows with as many durable steps. Ours are two
// workflows each, agent and turn, and open a real shell. There are two kinds of bare ones: single workflows, and
// workflows with a child that does the work, which is what agent and turn cannot be cheaper than.
import { readFileSync } from 'node:fs';
import { explaining, inTurn, median, type Row } from '../measure';
import { cpuSeconds } from '../processes';
import { uniqueId, type Bench } from '../setting';
import { scriptedModel } from './steps';

const STEPS = 3;
/** One hundred take long enough for noise to average out. */
const ROUNDS = { 16: 3, 100: 1 } as const;
/** Of Linux's clock ticks, in which /proc/stat counts; the same on all its platforms. */
const TICKS_PER_SECOND = 100;

/** What one agent took, in milliseconds of processor time. */
interface Cost {
  server: number;
  worker: number;
  client: number;
  /** Shells, holders, and whatever else ran. */
  rest: number;
}

export async function manyAgents(bench: Bench): Promise<Row[]> {
  await ours(bench, 4, STEPS)();
  await bare(bench, 'bareChild', 4, 0)();
  const rows: Row[] = [];
  for (const agents of [16, 100] as const) {
    for (const [steps, what, kinds] of [
      [STEPS, `${STEPS} steps, each in its own shell`, ['bareAgent']],
      [0, 'an answer at once, no shell', ['bareAgent', 'bareChild']],
    ] as const) {
      for (const kind of kinds) {
        const costs = { ours: [] as Cost[], base: [] as Cost[] };
        const of = (whose: 'ours' | 'base', worker: () => number): Costed => ({
          ...{ agents, server: bench.server, worker: worker() },
          costs: costs[whose],
        });
        const pair = await inTurn(
          ROUNDS[agents],
          () => costed(of('ours', bench.workers.ours), ours(bench, agents, steps)),
          () => costed(of('base', bench.workers.bare), bare(bench, kind, agents, steps)),
        );
        const base = kind === 'bareChild' ? 'bare workflows with a child each' : 'bare workflows';
        rows.push(explaining(`${agents} agents at once, ${what} / ${base}`, pair));
        rows.push(...costRows(costs));
      }
    }
  }
  return rows;
}

function costRows({ ours: all, base }: Record<'ours' | 'base', Cost[]>): Row[] {
  const of = (costs: Cost[], part: keyof Cost): number => median(costs.map((cost) => cost[part]));
  return (['server', 'worker', 'client', 'rest'] as const).map((part) =>
    explaining(`- processor time of one: ${part}`, { ours: of(all, part), base: of(base, part) }),
  );
}

interface Costed {
  agents: number;
  /** Process ids. */
  server: number;
  worker: number;
  costs: Cost[];
}

/** Runs `work`, adds what each agent took to `costs`, and returns the wall time in milliseconds. */
async function costed(
  { agents, server, worker, costs }: Costed,
  work: () => Promise<unknown>,
): Promise<number> {
  const read = (): Omit<Cost, 'rest'> & { all: number; wall: number } => ({
    server: cpuSeconds([server]) * 1e3,
    worker: cpuSeconds([worker]) * 1e3,
    client: cpuSeconds([process.pid]) * 1e3,
    all: busyMs(),
    wall: performance.now(),
  });
  const before = read();
  await work();
  const after = read();
  const took = (part: keyof typeof before): number => after[part] - before[part];
  const each = {
    server: took('server') / agents,
    worker: took('worker') / agents,
    client: took('client') / agents,
  };
  costs.push({ ...each, rest: took('all') / agents - each.server - each.worker - each.client });
  return took('wall');
}

/** Time that all processors together have worked since the start of the machine. */
function busyMs(): number {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = (
    readFileSync('/proc/stat', 'latin1').split('\n')[0] ?? ''
  )
    .split(/\s+/)
    .map(Number);
  return ((user + nice + system + irq + softIrq) / TICKS_PER_SECOND) * 1e3;
}

/** From the first start to the last result. */
function ours(bench: Bench, agents: number, steps: number): () => Promise<unknown> {
  const model = scriptedModel(bench, steps);
  const one = async (): Promise<void> => {
    const agent = bench.client.agent(uniqueId('many'));
    await agent.start({ task: 'x', model });
    const { reason } = await agent.result();
    if (reason !== 'answered') throw new Error(`an agent ended with ${reason}`);
  };
  return () => Promise.all(Array.from({ length: agents }, one));
}

function bare(
  { client }: Bench,
  kind: 'bareAgent' | 'bareChild',
  agents: number,
  steps: number,
): () => Promise<unknown> {
  const one = (): Promise<unknown> =>
    client.temporal.workflow.execute(kind, {
      workflowId: uniqueId('bare-agent'),
      taskQueue: 'bare',
      args: [{ steps }],
    });
  return () => Promise.all(Array.from({ length: agents }, one));
}
