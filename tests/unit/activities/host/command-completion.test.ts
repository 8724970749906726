// Who reports a command's end to the server, with real sessions: the activity that began it, or a later request.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { CommandCompletion } from '../../../../activities/host/command-completion';
import { DEFAULT_YIELD, type CommandView } from '../../../../contracts/sessions/session';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { until } from '../../../helpers/until';

const YIELD = { ...DEFAULT_YIELD, firstOutputMs: 60_000, betweenOutputMs: 60_000, maxMs: 60_000 };

let t: TestHost;
let journal: string;
/** Tokens of the activities that were completed by a request of their own, with the view. */
let completed: [token: number, view: CommandView][];
let signals: number;
let completion: CommandCompletion;

beforeEach(() => {
  t = testHost();
  journal = join(t.dataDir, 'commands');
  completed = [];
  signals = 0;
  const client = {
    options: { namespace: 'default' },
    workflow: { getHandle: () => ({ signal: async () => void signals++ }) },
    activity: {
      complete: async (token: Uint8Array, view: CommandView) => void completed.push([token[0] ?? 0, view]),
      heartbeat: async () => undefined,
    },
  } as unknown as Client;
  const options = { journal, folderId: 'ours', log: () => undefined };
  completion = new CommandCompletion(client, t.host, options);
});
afterEach(async () => {
  completion.detach();
  await t.end();
});

async function run(
  code: string,
  { token = 1, id = 'one', yielding = YIELD } = {},
): Promise<CommandView | null> {
  await t.host.run(t.ref, { id, runtime: 'terminal', code });
  return follow(token, id, yielding);
}

const follow = (token: number, commandId: string, yielding = YIELD): Promise<CommandView | null> =>
  completion.start(
    { taskToken: new Uint8Array([token]), activityId: `${token}`, workflowExecution: undefined },
    {
      ...{ ref: t.ref, workflowId: 'exec/test/local/0', cwd: null, commandId },
      ...{ runtime: 'terminal', code: '', yield: yielding },
    },
  );

test('a command that ends at once is answered by its activity alone: no journal, no second request', async () => {
  expect(await run('echo hi')).toMatchObject({ state: 'exited', exitCode: 0, output: 'hi\n' });
  expect(completion.running).toBe(0);
  expect(readdirSync(journal)).toEqual([]);
  expect(completed).toEqual([]);
});

test('a command that lasts leaves its activity, is in the journal meanwhile, and is completed once', async () => {
  expect(await run('until [ -e go-on ]; do sleep 0.02; done; echo hi')).toBeNull();
  expect(readdirSync(journal)).toHaveLength(1);
  writeFileSync(join(t.cwd, 'go-on'), '');
  await until(() => completed.length > 0);
  expect(completed).toMatchObject([[1, { state: 'exited', output: 'hi\n' }]]);
  await until(() => readdirSync(journal).length === 0);
});

test('a command that yields has left its activity by then: its view is no answer of the activity', async () => {
  const answer = run('sleep 1000', { yielding: { ...YIELD, firstOutputMs: 0 } });
  await until(() => signals > 0);
  expect(await answer).toBeNull();
  expect(readdirSync(journal)).toHaveLength(1);
});

test('a command that is handed over again belongs to its last token, and leaves nothing in the journal', async () => {
  const first = run('until [ -e go-on ]; do sleep 0.02; done');
  await until(() => completion.running > 0);
  const second = follow(2, 'one');
  writeFileSync(join(t.cwd, 'go-on'), '');
  const answers = await Promise.all([first, second]);
  await until(() => completion.running === 0);
  // The second answers by itself, or by a request if the machine is slow.
  expect([answers[0], completed.filter(([token]) => token !== 2)]).toEqual([null, []]);
  expect(readdirSync(journal)).toEqual([]);
});
