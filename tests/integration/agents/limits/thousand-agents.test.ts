// Many agents in conversation mode, some of them at work at any time: a thousand, fifty and ten minutes in the long run,
// which also measures. HOLDFAST_LOAD_SECONDS is another duration.
import { readFileSync } from 'node:fs';
import { temporal } from '@temporalio/proto';
import { agentWorkflowId, turnWorkflowId } from '../../../../contracts/ids';
import { runningWorker } from '../../../../workers/process/worker-record';
import { EngineOfItsOwn } from '../../../helpers/engines/engine-of-its-own';
import { count, isLongRun, longTest } from '../../../helpers/run/long-run';
import { call, scratch } from '../../../helpers/engines/temporal';
import { until } from '../../../helpers/until';

const AGENTS = count(24, 1_000);
const AT_WORK = count(8, 50);
const SECONDS = Number(process.env.HOLDFAST_LOAD_SECONDS ?? count(3, 600));
/** How long the model takes for each reply; with a tool between two, a turn takes a bit more than twice that. */
const REPLY_MS = count(100, 5_000);
/** Of each agent: more than the duration allows, and few, because the file of replies is read at each call. */
const TURNS = 8;
const PS_PAUSE_MS = 5_000;
/** Until code is compiled. */
const WARM_UP_MS = 60_000;
/** A heap grows until it is collected, now and then: of this many samples the least is what is really held. */
const SAMPLES = 180;
const MAX_GROWTH_MB = 50;
const MAX_PS_MS = 1_000;

const engine = new EngineOfItsOwn({ ownServer: isLongRun });
const files = scratch();

beforeAll(() => engine.start(), 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 120_000);

const nameOf = (agent: number): string => `load-${agent}`;
/** Messages that each agent was sent. */
const sent = Array.from({ length: AGENTS }, () => 0);
/** Resident memory of the worker, in MB, each second. */
const memory: { at: number; mb: number }[] = [];
/** How long each `holdfast ps --json` took. */
const listed: number[] = [];

/** As many at once as are at work; each calls `work` until the answer says that there is no more. */
async function inLanes(work: (lane: number) => Promise<boolean>): Promise<void> {
  const lane = async (_: unknown, index: number): Promise<void> => {
    while (await work(index));
  };
  await Promise.all(Array.from({ length: AT_WORK }, lane));
}

/** Each agent once, as many at a time. */
async function forEachAgent(work: (agent: number) => Promise<void>): Promise<void> {
  let next = 0;
  await inLanes(async () => {
    const agent = next++;
    if (agent < AGENTS) await work(agent);
    return agent < AGENTS;
  });
}

async function countListed(): Promise<number> {
  const ids = new Set<string>();
  for await (const { id } of engine.client.agents.list()) ids.add(id);
  return ids.size;
}

async function startAll(): Promise<void> {
  const replies = Array.from({ length: TURNS }, (_, turn) => {
    const read = call('read_file', { file_path: __filename, limit: 20 });
    return [
      { text: read, delayMs: REPLY_MS },
      { text: `answer ${turn + 1}`, delayMs: REPLY_MS },
    ];
  }).flat();
  const settings = files.settings(replies);
  await forEachAgent(async (agent) => {
    await engine.client.agent(nameOf(agent)).start({ mode: 'conversation', ...settings });
    // Its worker has it: what follows does not wait for the start of all others.
    await engine.client.agent(nameOf(agent)).ownState();
  });
  // The server's list is a moment behind.
  await until(async () => (await countListed()) === AGENTS, 60_000);
}

async function sendNext(agent: number): Promise<void> {
  const turn = (sent[agent] = (sent[agent] ?? 0) + 1);
  const result = await engine.client.agent(nameOf(agent)).send(`message ${turn}`);
  expect(result).toMatchObject({ reason: 'answered', answer: `answer ${turn}` });
}

async function work(deadline: number): Promise<void> {
  let next = 0;
  await inLanes(async () => {
    if (Date.now() > deadline) return false;
    await sendNext(next++ % AGENTS);
    return true;
  });
}

async function each(pauseMs: number, over: AbortSignal, look: () => Promise<void>): Promise<void> {
  while (!over.aborted) {
    await look();
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function measureMemory(): Promise<void> {
  const worker = runningWorker(engine.dataDir);
  if (!worker) throw new Error('the worker has ended');
  const status = readFileSync(`/proc/${worker.identity.pid}/status`, 'latin1');
  memory.push({ at: Date.now(), mb: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024 });
  return Promise.resolve();
}

/** On a busy machine an agent may answer too late for one look: then what it is doing is not listed. */
const list = (): Promise<void> => until(async () => (await untold()).length === 0);

async function untold(): Promise<unknown[]> {
  const began = performance.now();
  const { code, stdout } = await engine.cli(['ps', '--json']);
  listed.push(performance.now() - began);
  expect(code).toBe(0);
  const agents = (JSON.parse(stdout) as { type: string; doing: string | null }[]).filter(
    ({ type }) => type === 'agent',
  );
  expect(agents).toHaveLength(AGENTS);
  return agents.filter(({ doing }) => doing === null);
}

/** Times out, or is tried again because it failed. */
async function troubleOf(workflowId: string): Promise<string[]> {
  const { events } = await engine.client.temporal.workflow.getHandle(workflowId).fetchHistory();
  const { EventType, TimeoutType } = temporal.api.enums.v1;
  return (events ?? []).flatMap((event) => {
    const name = String(EventType[Number(event.eventType)]);
    const { activityTaskStartedEventAttributes: started, workflowTaskTimedOutEventAttributes: timeOut } =
      event;
    const isAgain = (started?.attempt ?? 1) > 1;
    if (!/TIMED_OUT|FAILED/.test(name) && !isAgain) return [];
    // Which time was over, and when.
    const kind = timeOut ? ` ${String(TimeoutType[Number(timeOut.timeoutType)])}` : '';
    const at = new Date(Number(event.eventTime?.seconds) * 1_000).toISOString();
    return [`${at} ${workflowId}: ${name}${kind}`];
  });
}

test(
  'with many agents at work each message is answered, and `ps` says what each agent is doing',
  async () => {
    await startAll();
    // One that has had a turn takes a quarter of a megabyte more in the worker's cache: that is no growth.
    await forEachAgent(sendNext);
    const over = new AbortController();
    const looks = [each(1_000, over.signal, measureMemory), each(PS_PAUSE_MS, over.signal, list)];
    try {
      await Promise.race([work(Date.now() + SECONDS * 1_000), Promise.all(looks)]);
    } finally {
      over.abort();
      await Promise.all(looks);
    }
    expect(sent.filter((messages) => messages > 1).length).toBeGreaterThanOrEqual(AT_WORK);
  },
  (SECONDS + 600) * 1_000,
);

// On a machine that does nothing else.
longTest(
  'no task of them times out or is tried again',
  async () => {
    const workflows = sent.flatMap((messages, agent) => [
      agentWorkflowId(nameOf(agent)),
      ...Array.from({ length: messages }, (_, turn) => turnWorkflowId(nameOf(agent), turn + 1)),
    ]);
    const trouble: string[] = [];
    await inLanes(async () => {
      const workflowId = workflows.pop();
      if (workflowId !== undefined) trouble.push(...(await troubleOf(workflowId)));
      return workflowId !== undefined;
    });
    expect(trouble).toEqual([]);
  },
  300_000,
);

longTest('the memory of the worker is flat once each agent has had a turn', async () => {
  const first = memory[0]?.at ?? 0;
  const warm = memory.filter(({ at }) => at > first + WARM_UP_MS).map(({ mb }) => mb);
  expect(warm.length).toBeGreaterThanOrEqual(2 * SAMPLES);
  const growth = Math.min(...warm.slice(-SAMPLES)) - Math.min(...warm.slice(0, SAMPLES));
  expect(growth).toBeLessThan(MAX_GROWTH_MB);
});

longTest('`holdfast ps --json` answers under a second at any time', async () => {
  expect(listed.length).toBeGreaterThan(1);
  expect(Math.max(...listed)).toBeLessThan(MAX_PS_MS);
});
