// How long the turn of one tenant takes while another has 500 agents: as tenants of their own, and as one. Where both are
// the same tenant, the one turn waits behind all others, as it would without fairness.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atMost, explaining, median, timed, type Row } from '../measure';
import { uniqueId, type Bench } from '../setting';

const AGENTS = 500;
/** What a model takes, for a short answer. */
const MODEL_MS = 1_000;
const ROUNDS = 3;
/** One after the other, while the others are at work. */
const TURNS = 5;

export async function tenants(bench: Bench): Promise<Row[]> {
  const file = join(bench.dataDir, 'tenants.yaml');
  writeFileSync(file, `- text: done\n  delayMs: ${MODEL_MS}\n`);
  const one = async (tenant: string): Promise<void> => {
    const agent = bench.client.agent(uniqueId('tenant'));
    await agent.start({ task: 'x', model: `scripted:${file}`, tenant });
    await agent.result();
  };
  await one('small');
  const alone: number[] = [];
  for (let round = 0; round < ROUNDS; round++) alone.push(await timed(() => one('small')));
  const base = median(alone);
  const beside = async (tenant: string, turns: number): Promise<number[]> => {
    const all = await Promise.all(
      Array.from({ length: AGENTS }, async () => {
        const agent = bench.client.agent(uniqueId('crowd'));
        await agent.start({ task: 'x', model: `scripted:${file}`, tenant: 'large' });
        return agent;
      }),
    );
    const took: number[] = [];
    for (let turn = 0; turn < turns; turn++) took.push(await timed(() => one(tenant)));
    for (const agent of all) await agent.result();
    return took;
  };
  const [shared = NaN] = await beside('large', 1);
  const own = await beside('small', TURNS);
  return [
    atMost(`a turn beside ${AGENTS} agents of another tenant / alone`, { ours: median(own), base }, 2),
    explaining('- the first, right after they were started', { ours: own[0] ?? NaN, base }),
    explaining(`a turn beside ${AGENTS} agents of the same tenant / alone`, { ours: shared, base }),
  ];
}
