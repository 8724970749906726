// Whatever ends a session, through its workflow and its agent: nothing of the rest of its code begins afterwards.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { HoldfastClient } from '../../../client/holdfast-client';
import type { SessionHandle } from '../../../client/session-handle';
import { toolBlock } from '../../../testing/scripted-model';
import { SessionHost } from '../../../exec/host/session-host';
import { OrphanSweep } from '../../../workers/host/orphan-sweep';
import {
  QUICK_YIELD,
  scratch,
  testClient,
  uniqueId,
  type Reply,
  type Scratch,
} from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';
import { processesMarked } from '../exec/session-processes';

/** Each by the session's own number, and each would write its marker next. */
const CODES = [
  'echo started; sleep 300; echo ran > marker-0',
  'echo started\nsleep 300\necho ran > marker-1',
  'echo started; sleep 300 || echo ran > marker-2',
  'echo started; for i in 1 2; do sleep 300; echo ran > marker-3; done',
  'echo started; until sleep 300; do echo ran > marker-4; done',
];
const NEVER = { delayMs: 600_000, text: 'late' };

let client: HoldfastClient;
let files: Scratch;
beforeAll(async () => {
  client = await testClient();
  files = scratch();
});
afterAll(async () => {
  await client.close();
  files.remove();
});

const sleeping = (cwd: string): number =>
  processesMarked(cwd).filter((line) => /^\d+ sleep 300$/.test(line)).length;
const allSleep = (cwd: string): Promise<void> => until(() => sleeping(cwd) === CODES.length);

/** An agent that runs each code in a separate session, all at once, and then gets its next reply. */
async function agentWith(id: string, cwd: string, next: Reply): Promise<void> {
  const calls = CODES.map((code, session) => ({
    tool: 'code_execution_tool',
    args: { runtime: 'terminal', session, code },
  }));
  const model = files.model([{ text: toolBlock(calls) }, next]);
  const atOnce = { ...QUICK_YIELD, betweenOutputMs: 0 };
  await client.agent(id).start({ task: 'x', model, dialect: 'tagged', cwd, yield: atOnce });
}

async function sessionsWith(id: string, cwd: string): Promise<SessionHandle[]> {
  const sessions = CODES.map((_, session) => client.session({ agent: id, session }, { cwd }));
  const atOnce = { firstOutputMs: 0, betweenOutputMs: 0 };
  await Promise.all(sessions.map((session, n) => session.exec({ code: CODES[n] ?? '', yield: atOnce })));
  await allSleep(cwd);
  return sessions;
}

async function sweepTwice(): Promise<void> {
  const options = { dataDir: process.env.HOLDFAST_TEST_DATA ?? '', cwd: '/', env: {} };
  const sessions = new SessionHost({ ...options, treeKill: 'process-search' });
  const sweep = new OrphanSweep({ client: client.temporal, sessions, host: 'local', log: () => undefined });
  for (let looks = 0; looks < 2; looks += 1) await sweep.look();
  sessions.detach();
}

const workflowOf = ({ workflowId }: SessionHandle): ReturnType<typeof client.temporal.workflow.getHandle> =>
  client.temporal.workflow.getHandle(workflowId);

const ENDS: Record<string, (id: string, cwd: string) => Promise<void>> = {
  'an agent is stopped': async (id, cwd) => {
    await agentWith(id, cwd, NEVER);
    await allSleep(cwd);
    await client.agent(id).stop('enough');
    expect(await client.agent(id).result()).toMatchObject({ reason: 'stopped' });
  },
  'an agent is cancelled': async (id, cwd) => {
    await agentWith(id, cwd, NEVER);
    await allSleep(cwd);
    await client.temporal.workflow.getHandle(`agent/${id}`).cancel();
    await client
      .agent(id)
      .result()
      .catch(() => undefined);
  },
  'an agent is recovered': async (id, cwd) => {
    await agentWith(id, cwd, NEVER);
    await allSleep(cwd);
    expect(await client.agent(id).recover('it hangs')).toMatchObject({ lastResult: { reason: 'recovered' } });
    await until(() => processesMarked(cwd).length === 0);
    await client.agent(id).stop();
  },
  'an agent answers its task': async (id, cwd) => {
    // Long enough for all to be seen asleep, on a busy machine, too.
    await agentWith(id, cwd, { text: 'done', delayMs: 10_000 });
    await allSleep(cwd);
    expect(await client.agent(id).result()).toMatchObject({ answer: 'done' });
  },
  'the workflow of a session is cancelled': async (id, cwd) => {
    const sessions = await sessionsWith(id, cwd);
    await Promise.all(sessions.map((session) => workflowOf(session).cancel()));
    await Promise.allSettled(sessions.map((session) => workflowOf(session).result()));
  },
  'a session without a workflow is swept': async (id, cwd) => {
    const sessions = await sessionsWith(id, cwd);
    await Promise.all(sessions.map((session) => workflowOf(session).terminate('gone wrong')));
    await sweepTwice();
  },
};

test.each(Object.entries(ENDS))('when %s, nothing of the rest of the code begins', async (_when, end) => {
  const id = uniqueId('ends');
  const cwd = join(files.directory, id);
  mkdirSync(cwd);
  await end(id, cwd);
  // With them all that could still write one.
  await until(() => processesMarked(cwd).length === 0);
  expect(readdirSync(cwd)).toEqual([]);
});
