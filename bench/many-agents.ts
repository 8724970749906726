// Agents that all work at the same time against as many bare workflows with as many durable steps. Ours are two
// workflows each, agent and turn, and open a real shell; the bare ones do neither.
import { explaining, inTurn, timed, type Row } from './measure';
import { uniqueId, type Bench } from './setting';
import { scriptedModel } from './steps';

const STEPS = 3;
/** One hundred take long enough for noise to average out. */
const ROUNDS = { 16: 3, 100: 1 } as const;

export async function manyAgents(bench: Bench): Promise<Row[]> {
  await together(bench, 4, STEPS);
  const rows: Row[] = [];
  for (const agents of [16, 100] as const) {
    for (const [steps, what] of [
      [STEPS, `${STEPS} steps, each in its own shell`],
      [0, 'an answer at once, no shell'],
    ] as const) {
      const pair = await inTurn(
        ROUNDS[agents],
        () => together(bench, agents, steps),
        () => bareTogether(bench, agents, steps),
      );
      rows.push(explaining(`${agents} agents at once, ${what} / bare workflows`, pair));
    }
  }
  return rows;
}

/** From the first start to the last result. */
function together(bench: Bench, agents: number, steps: number): Promise<number> {
  const model = scriptedModel(bench, steps);
  const one = async (): Promise<void> => {
    const agent = bench.client.agent(uniqueId('many'));
    await agent.start({ task: 'x', model });
    const { reason } = await agent.result();
    if (reason !== 'answered') throw new Error(`an agent ended with ${reason}`);
  };
  return timed(() => Promise.all(Array.from({ length: agents }, one)));
}

function bareTogether({ client }: Bench, agents: number, steps: number): Promise<number> {
  const one = (): Promise<unknown> =>
    client.temporal.workflow.execute('bareAgent', {
      workflowId: uniqueId('bare-agent'),
      taskQueue: 'bare',
      args: [{ steps }],
    });
  return timed(() => Promise.all(Array.from({ length: agents }, one)));
}
