// Two workers are replaced by those of the next build, one after the other, while agents, commands, scripts and approvals
// go on. The long run has as many as a team may have, and prints the longest wait.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandView } from '../../../contracts/sessions/session';
import { forEachOpen } from '../../../workers/open-workflows';
import { packageRoot } from '../../../system/package-root';
import { endDataFolder } from '../../helpers/engines/end-data-folder';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { count, isLongRun } from '../../helpers/run/long-run';
import { NextBuild } from '../../helpers/releases/next-build';
import { call, QUICK_YIELD, scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const AGENTS = count(10, 200);
/** The other agents wait for their next message. With 10, two processors have no time left for an upgrade. */
const TURNS_AT_ONCE = 4;
const COMMANDS = count(5, 50);
const SCRIPTS = count(2, 10);
const APPROVALS = 3;
const CALLS = count(20, 60);
const CALL_EVERY_S = count(0.1, 1);
/** Of each agent; more than the upgrade takes. */
const TURNS = 200;
const REPLY_MS = count(100, 1_000);
const AWAIT_MS = count(60_000, 300_000);
const TOOLS = join(packageRoot(), 'tests', 'fixtures', 'script-tools.mjs');

const engine = new EngineOfItsOwn({ ownServer: isLongRun });
const files = scratch();
const second = mkdtempSync(join(tmpdir(), 'holdfast-second-'));
let next: NextBuild;

beforeAll(async () => {
  next = new NextBuild();
  const config = '[deployment]\nversioning = "auto-upgrade"\n[policy.agents]\nasked = "ask"\n';
  for (const dataDir of [engine.dataDir, second]) {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'holdfast.toml'), config);
  }
  await engine.start({ tools: [TOOLS] });
  await upSecond();
}, 120_000);
afterAll(async () => {
  await endDataFolder(second);
  const left = await engine.end();
  files.remove();
  next.remove();
  rmSync(second, { recursive: true, force: true });
  expect(left).toEqual([]);
}, 120_000);

/** The worker of another machine: it serves agents of the same queue. */
const upSecond = (bin?: string): Promise<void> =>
  up(['--agents-only', '--address', engine.server().address], { HOLDFAST_DATA: second }, bin);

async function up(args: string[], env: NodeJS.ProcessEnv, bin?: string): Promise<void> {
  const { code, stderr } = await engine.cli(['up', '--tools', TOOLS, ...args], { env, ...(bin && { bin }) });
  if (code !== 0) throw new Error(stderr);
}

const marked = (name: string): string => join(files.directory, name);

/** One line for each call of the agents. */
const notes = (): string[] =>
  existsSync(marked('notes')) ? readFileSync(marked('notes'), 'utf8').split('\n').slice(0, -1) : [];

/** In milliseconds, without what the model takes. */
interface Wait {
  began: number;
  ms: number;
}

/** Sends messages to all agents in turn, until asked to end; resolves with the waits. */
async function converse(over: AbortSignal): Promise<Wait[]> {
  const waits: Wait[] = [];
  const sent = Array.from({ length: AGENTS }, () => 0);
  let last = 0;
  const lane = async (): Promise<void> => {
    while (!over.aborted) {
      const agent = last++ % AGENTS;
      const turn = (sent[agent] = (sent[agent] ?? 0) + 1);
      const began = performance.now();
      const result = await engine.client.agent(`talks-${agent}`).send(`message ${turn}`);
      waits.push({ began, ms: performance.now() - began - 2 * REPLY_MS });
      expect(result).toMatchObject({ reason: 'answered', answer: `answer ${turn}` });
    }
  };
  await Promise.all(Array.from({ length: TURNS_AT_ONCE }, lane));
  const all = notes();
  expect(new Set(all).size).toBe(all.length);
  expect(all).toHaveLength(sent.reduce((sum, turns) => sum + turns, 0));
  return waits;
}

async function startAgents(): Promise<void> {
  for (let agent = 0; agent < AGENTS; agent++) {
    const replies = Array.from({ length: TURNS }, (_, turn) => [
      { text: call('note', { folder: files.directory, line: `${agent} ${turn}` }), delayMs: REPLY_MS },
      { text: `answer ${turn + 1}`, delayMs: REPLY_MS },
    ]).flat();
    await engine.client.agent(`talks-${agent}`).start({ mode: 'conversation', ...files.settings(replies) });
  }
}

const GO_ON = marked('go-on');

function startCommands(): Promise<CommandView>[] {
  return Array.from({ length: COMMANDS }, (_, session) =>
    engine.client.session({ agent: 'works', session }).exec({
      code: `echo ran >> ${marked(`command-${session}`)}; until [ -e ${GO_ON} ]; do sleep 1; done; (exit 7)`,
    }),
  );
}

function startScripts(): Promise<CommandView>[] {
  return Array.from({ length: SCRIPTS }, (_, session) => {
    const folder = marked(`script-${session}`);
    mkdirSync(folder);
    const code = `import codex_tools, os, time
for i in range(${CALLS}):
  assert codex_tools.note(folder=${JSON.stringify(folder)}, line=str(i)) == f"noted {i}"
  time.sleep(${CALL_EVERY_S})
print("all calls")`;
    return engine.client.session({ agent: 'scripts', session }).exec({ runtime: 'python', code });
  });
}

function startAsked(): Promise<CommandView>[] {
  return Array.from({ length: APPROVALS }, (_, session) =>
    engine.client
      .session({ agent: 'asked', session }, { yield: QUICK_YIELD })
      .exec({ code: `echo ran >> ${marked(`asked-${session}`)}` }),
  );
}

const longestOf = (waits: readonly Wait[]): number => Math.round(Math.max(...waits.map(({ ms }) => ms)));

const haveBegun = async (): Promise<boolean> =>
  [
    ...Array.from({ length: COMMANDS }, (_, session) => marked(`command-${session}`)),
    ...Array.from({ length: SCRIPTS }, (_, session) => join(marked(`script-${session}`), 'notes')),
  ].every(existsSync) && (await engine.client.approvals.list()).length === APPROVALS;

async function approveAll(): Promise<void> {
  for (let session = 0; session < APPROVALS; session++) {
    const { workflowId } = engine.client.session({ agent: 'asked', session });
    await until(async () => (await engine.client.approvals.of(workflowId).catch(() => [])).length === 1);
    const [one] = await engine.client.approvals.of(workflowId);
    await engine.client.approvals.approve(workflowId, { hash: one?.hash ?? '', by: 'alice' });
  }
}

/** While both builds are there: any worker may get the next task of a run, as when its cache is full. */
async function mixBuilds(turns: number): Promise<void> {
  const { temporal: client, server } = engine.client;
  const enough = notes().length + turns;
  const { namespace } = client.options;
  while (notes().length < enough)
    await forEachOpen(client, { taskQueue: server.queue }, (execution) =>
      client.workflowService.resetStickyTaskQueue({ namespace, execution }),
    );
}

/** Workflow tasks that failed, in the histories of all runs. */
async function failedTasks(): Promise<string[]> {
  const found: string[] = [];
  for await (const { workflowId, runId } of engine.client.temporal.workflow.list()) {
    const { events } = await engine.client.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    for (const { workflowTaskFailedEventAttributes: failed } of events ?? [])
      if (failed) found.push(`${workflowId}: ${failed?.failure?.message}`);
  }
  return found;
}

test(
  'a rolling upgrade of two workers: each turn is answered, each command and call runs once, no task fails',
  async () => {
    await startAgents();
    const commands = startCommands();
    const scripts = startScripts();
    const asked = startAsked();
    const running = Promise.all([...commands, ...scripts, ...asked]);
    running.catch(() => undefined);
    // The upgrade is what is measured, not the opening of so many sessions.
    await Promise.race([running, until(haveBegun, AWAIT_MS)]);
    const over = new AbortController();
    const waits = converse(over.signal);
    waits.catch(() => undefined);
    await Promise.race([waits, until(() => notes().length > count(2, 6) * TURNS_AT_ONCE, AWAIT_MS)]);
    const upgradeBegan = performance.now();
    await upSecond(next.bin);
    // It would be part of the waits that the long run measures.
    if (!isLongRun) await Promise.race([waits, mixBuilds(2 * AGENTS)]);
    await up([], {}, next.bin);
    over.abort();
    const told = await waits;
    await approveAll();
    writeFileSync(GO_ON, '');
    if (isLongRun) {
      // The first ones found the workers busy with the commands.
      const before = told.filter(({ began }) => began < upgradeBegan - 2 * REPLY_MS).slice(TURNS_AT_ONCE);
      const during = told.filter(({ began, ms }) => began + ms + 2 * REPLY_MS > upgradeBegan);
      console.log(
        `longest wait of a turn: ${longestOf(during)} ms; before the upgrade: ${longestOf(before)} ms`,
      );
    }
    for (const [session] of commands.entries()) {
      const { output, exitCode } = await engine.client
        .session({ agent: 'works', session })
        .output({ wait: 'exit', waitMs: 60_000, from: 0 });
      expect({ output, exitCode }).toEqual({ output: '', exitCode: 7 });
      expect(readFileSync(marked(`command-${session}`), 'utf8')).toBe('ran\n');
    }
    for (const [session] of scripts.entries()) {
      const { output } = await engine.client
        .session({ agent: 'scripts', session })
        .output({ wait: 'exit', waitMs: 120_000, from: 0 });
      expect(output).toContain('all calls');
      const notes = readFileSync(join(marked(`script-${session}`), 'notes'), 'utf8');
      expect(notes).toBe(Array.from({ length: CALLS }, (_, i) => `${i}\n`).join(''));
    }
    await running;
    for (let session = 0; session < APPROVALS; session++)
      expect(readFileSync(marked(`asked-${session}`), 'utf8')).toBe('ran\n');
    expect(await failedTasks()).toEqual([]);
  },
  count(180_000, 900_000),
);
