// What a host removes of agents that have ended without a word.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { agentWorkflowId } from '../../../../contracts/ids';
import { DEFAULT_CHECKPOINTS } from '../../../../contracts/workspaces/settings';
import { HostWorkspaces } from '../../../../workers/host/host-workspaces';
import { testHost } from '../../../helpers/terminals/session-host';
import { testClient, uniqueId } from '../../../helpers/engines/temporal';
import { until } from '../../../helpers/until';

const log = jest.fn<undefined, [message: string, facts: object]>();
let temporal: Client;
let own: ReturnType<typeof testHost>;
let files: HostWorkspaces;
/** By the server's clock, in milliseconds. */
let now: number;
/** Happens while an agent that has ended is asked about. */
let meanwhile: () => Promise<void>;

beforeEach(async () => {
  log.mockClear();
  now = Infinity;
  meanwhile = () => Promise.resolve();
  ({ temporal } = await testClient());
  own = testHost();
  writeFileSync(join(own.cwd, 'file'), 'text');
  files = new HostWorkspaces({
    client: temporal,
    host: 'local',
    sessions: own.host,
    sandbox: undefined,
    checkpoints: { ...DEFAULT_CHECKPOINTS, enabled: 'on' },
    keepMs: 0,
    serverTime: async () => {
      await meanwhile();
      return now;
    },
    log,
  });
});
afterEach(() => own.end());

async function folderOf(agent: string): Promise<string> {
  const wanted = { agent, born: '1', owner: 'a', of: own.cwd, hash: null, for: 'parent' };
  return (await files.trees.make(wanted)).folder;
}

const start = (agent: string): Promise<WorkflowHandle> =>
  temporal.workflow.start('agent', { workflowId: agentWorkflowId(agent), taskQueue: uniqueId('nobody') });

async function terminate(agent: string): Promise<void> {
  await (await start(agent)).terminate();
}

test('the folder of an agent that was terminated goes to its heir, that of one whom this server does not know stays', async () => {
  const [ended, unknown] = [uniqueId('ended'), uniqueId('unknown')];
  const folders = [await folderOf(ended), await folderOf(unknown)];
  await terminate(ended);
  files.looks.start({ now: true });
  await until(() => !existsSync(folders[0] ?? ''));
  await files.looks.end();
  expect(folders.map((folder) => existsSync(folder))).toEqual([false, true]);
  expect(log).not.toHaveBeenCalled();
});

test('a folder that cannot be left is named, and keeps neither other folders nor the checkpoints of ended agents', async () => {
  // Swept in the order of their names.
  const [removed, stuck, other] = [uniqueId('ended-a'), uniqueId('ended-b'), uniqueId('ended-c')];
  const folders = [await folderOf(removed), await folderOf(stuck), await folderOf(other)];
  for (const agent of [removed, stuck, other]) await terminate(agent);
  for (const folder of folders.slice(0, 2)) rmSync(folder, { recursive: true });
  writeFileSync(folders[1] ?? '', 'no folder');
  const told = (): object[] =>
    log.mock.calls.flatMap(([message, facts]) => (message.startsWith('what ended agents left') ? facts : []));
  files.looks.start({ now: true });
  await until(() => told().length > 0);
  await files.looks.end();
  expect(folders.map((folder) => existsSync(folder))).toEqual([false, true, false]);
  expect(await files.workspaces.agents()).toEqual(['parent']);
  // Not the one that somebody has removed.
  const error = expect.stringMatching(new RegExp(`^folder of ${stuck}: [^;]*$`)) as string;
  expect(told()).toEqual([{ error }]);
});

test('a host whose clock is ahead removes no checkpoint that is still kept by the clock of the server', async () => {
  const ended = uniqueId('ended');
  const folder = await folderOf(ended);
  await terminate(ended);
  now = 0;
  files.looks.start({ now: true });
  await until(() => !existsSync(folder));
  await files.looks.end();
  expect(await files.workspaces.agents()).toContain(ended);
  now = Infinity;
  files.looks.start({ now: true });
  await until(async () => !(await files.workspaces.agents()).includes(ended));
});

test('an agent that begins again under its id while the server is asked keeps its checkpoints', async () => {
  const [again, ended] = [uniqueId('again'), uniqueId('ended')];
  for (const agent of [again, ended]) {
    await files.workspaces.checkpoint({ cwd: own.cwd, agent });
    await terminate(agent);
  }
  let restarted: WorkflowHandle | undefined;
  meanwhile = async () => void (restarted ??= await start(again));
  files.looks.start({ now: true });
  await until(async () => !(await files.workspaces.agents()).includes(ended));
  await files.looks.end();
  expect(await files.workspaces.agents()).toEqual([again]);
  await restarted?.terminate();
});
