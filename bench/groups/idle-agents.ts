// What a worker keeps for agents that wait for their next message.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { below, explaining, plain, type Row } from '../measure';
import { cpuSeconds, residentMb } from '../processes';
import { uniqueId, type Bench } from '../setting';

const AGENTS = 1_000;
const AT_ONCE = 16;
/** By then everything that the last turns left to do is done. */
const SETTLE_MS = 10_000;
/** By then V8 has collected what it collects while a process is idle. */
const IDLE_MS = 60_000;

export async function idleAgents(bench: Bench): Promise<Row[]> {
  const { identity } = await bench.worker();
  const without = residentMb(identity.pid);
  const before = cpuSeconds([identity.pid]);
  await openAgents(bench, AGENTS);
  const cpu = cpuSeconds([identity.pid]) - before;
  await delay(SETTLE_MS);
  const atFirst = residentMb(identity.pid);
  await delay(IDLE_MS);
  const idle = residentMb(identity.pid);
  return [
    below(`worker that ran a turn of each of ${AGENTS} agents, idle: memory (RSS)`, idle, 'MB', 500),
    plain('- processor time of the worker for one', (cpu * 1e3) / AGENTS, 'ms'),
    explaining('- a moment after the last turn / before the first', { ours: atFirst, base: without }, 'MB'),
  ];
}

/** Conversations that have had one turn and wait for the next. */
export async function openAgents(bench: Bench, count: number): Promise<void> {
  const replies = join(bench.dataDir, 'open.json');
  writeFileSync(replies, JSON.stringify([{ text: 'done' }]));
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next++ < count) {
      const agent = bench.client.agent(uniqueId('open'));
      await agent.start({ mode: 'conversation', model: `scripted:${replies}`, task: 'x' });
      while ((await agent.ownState()).status !== 'idle') await delay(100);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
