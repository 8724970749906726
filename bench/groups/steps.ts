// Single steps in open sessions and turns: a quick command, and a step of a turn.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atMost, inTurn, timed, type Row } from '../measure';
import { runTrue } from '../replies';
import { bareSession, uniqueId, type Bench } from '../setting';

const STEPS = 20;

export async function steps(bench: Bench): Promise<Row[]> {
  return [await quickExec(bench), await turnStep(bench)];
}

/** @param limit how many times as long as bare it may take */
export async function quickExec(bench: Bench, limit = 2): Promise<Row> {
  const session = bench.client.session({ agent: uniqueId('quick'), session: 0 });
  const bare = bench.client.temporal.workflow.getHandle(await bareSession(bench));
  const ours = (): Promise<number> => timed(() => session.exec({ code: 'true' }));
  const base = (): Promise<number> => timed(() => bare.executeUpdate('exec', { args: [{ code: 'true' }] }));
  await inTurn(10, ours, base);
  const result = await inTurn(100, ours, base);
  await bare.signal('end');
  await session.close('measured');
  return atMost('quick exec / update -> activity -> result', result, limit);
}

async function turnStep(bench: Bench): Promise<Row> {
  const model = scriptedModel(bench, STEPS);
  const session = await bareSession(bench);
  const ours = async (): Promise<number> => {
    const id = uniqueId('turn');
    const agent = bench.client.agent(id);
    const total = await timed(async () => {
      await agent.start({ task: 'x', model, keep: true });
      await agent.result();
    });
    await bench.client.session({ agent: id, session: 0 }).close('measured');
    return total / STEPS;
  };
  const base = async (): Promise<number> => {
    const options = {
      workflowId: uniqueId('bare-turn'),
      taskQueue: 'bare',
      args: [{ steps: STEPS, session }],
    };
    return (await timed(() => bench.client.temporal.workflow.execute('bareTurn', options))) / STEPS;
  };
  await inTurn(1, ours, base);
  const result = await inTurn(5, ours, base);
  await bench.client.temporal.workflow.getHandle(session).signal('end');
  return atMost('turn step / bare workflow with as many durable steps', result, 1.5);
}

/** A model that runs `true` in session 0 for this many steps and then answers. */
export function scriptedModel({ dataDir }: Bench, count: number): string {
  const replies = Array.from({ length: count }, () => ({ text: runTrue }));
  const file = join(dataDir, `replies-${count}.yaml`);
  writeFileSync(file, JSON.stringify([...replies, { text: 'done' }]));
  return `scripted:${file}`;
}
