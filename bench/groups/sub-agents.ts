// Four sub-agents that a model spawns and waits for in one block, against bare child workflows: the same number of
// workflows, depth and model calls.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentWorkflowId, turnWorkflowId } from '../../contracts/ids';
import { historySize } from '../history-size';
import { explaining, inTurn, timed, type Row } from '../measure';
import { toolBlock } from '../replies';
import { uniqueId, type Bench } from '../setting';

const CHILDREN = 4;
const ROUNDS = 6;

export async function subAgents(bench: Bench): Promise<Row[]> {
  const model = parentModel(bench);
  let last = { ours: '', base: '' };
  const ours = (): Promise<number> =>
    timed(async () => (last = { ...last, ours: await family(bench, model) }));
  const base = (): Promise<number> => timed(async () => (last = { ...last, base: await bareFamily(bench) }));
  await inTurn(1, ours, base);
  const pair = await inTurn(ROUNDS, ours, base);
  const name = `${CHILDREN} sub-agents spawned and awaited / bare child workflows`;
  return [explaining(name, pair), ...(await sizes(bench, last))];
}

/** From the start to the parent's result. Returns its id. */
async function family({ client }: Bench, model: string): Promise<string> {
  const id = uniqueId('family');
  const agent = client.agent(id);
  await agent.start({ task: 'x', model, dialect: 'tagged' });
  const { reason } = await agent.result();
  if (reason !== 'answered') throw new Error(`the parent ended with ${reason}`);
  return id;
}

async function bareFamily({ client }: Bench): Promise<string> {
  const workflowId = uniqueId('bare-family');
  const options = { workflowId, taskQueue: 'bare', args: [{ children: CHILDREN }] };
  await client.temporal.workflow.execute('bareParent', options);
  return workflowId;
}

/** The block that models are shown: the wait refers to the agents that the calls before it spawn. */
function parentModel({ dataDir }: Bench): string {
  const child = join(dataDir, 'replies-child.yaml');
  writeFileSync(child, JSON.stringify([{ text: 'found' }]));
  const ids = Array.from({ length: CHILDREN }, (_, n) => `agent_${n + 1}`);
  const spawns = ids.map((id) => ({
    id,
    tool: 'spawn_agent',
    args: { role: 'Finder', prompt: 'find it', model: `scripted:${child}` },
  }));
  const wait = { id: 'wait', tool: 'wait_for_agents', args: { agent_ids: ids.map((id) => `$${id}`) } };
  const file = join(dataDir, 'replies-parent.yaml');
  const all = `("answer": "found".*){${CHILDREN}}`;
  writeFileSync(
    file,
    JSON.stringify([{ text: toolBlock([...spawns, wait]) }, { expect: all, text: 'done' }]),
  );
  return `scripted:${file}`;
}

/** Of the last family of each kind; sub-agents and their turns are alike, so one represents all. */
async function sizes(bench: Bench, { ours, base }: { ours: string; base: string }): Promise<Row[]> {
  const { agents } = await bench.client.agent(ours).state();
  const child = agents[0]?.agentId ?? '';
  const kinds = [
    ['the parent', agentWorkflowId(ours), base],
    ['its turn', turnWorkflowId(ours, 1), `${base}/turn`],
    ['a sub-agent', agentWorkflowId(child), `${base}/turn/child-0`],
    ['its turn', turnWorkflowId(child, 1), `${base}/turn/child-0/turn`],
  ] as const;
  const rows: Row[] = [];
  const sum = { events: { ours: 0, base: 0 }, bytes: { ours: 0, base: 0 } };
  for (const [index, [what, our, bare]] of kinds.entries()) {
    const [one, other] = [await historySize(bench, our), await historySize(bench, bare)];
    const times = index < 2 ? 1 : CHILDREN;
    for (const of of ['events', 'bytes'] as const) {
      sum[of].ours += one[of] * times;
      sum[of].base += other[of] * times;
    }
    rows.push(explaining(`- history of ${what}`, { ours: one.events, base: other.events }, 'events'));
  }
  const bytes = { ours: sum.bytes.ours / 1e3, base: sum.bytes.base / 1e3 };
  return [
    ...rows,
    explaining(`- of all ${2 + 2 * CHILDREN} workflows`, sum.events, 'events'),
    explaining('- the same in bytes', bytes, 'kB'),
  ];
}
