// What a host removes of agents that have ended without a word.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentWorkflowId } from '../../../../contracts/ids';
import { DEFAULT_CHECKPOINTS } from '../../../../contracts/workspaces/settings';
import { HostWorkspaces } from '../../../../workers/host/host-workspaces';
import { testHost } from '../../../helpers/terminals/session-host';
import { testClient, uniqueId } from '../../../helpers/engines/temporal';
import { until } from '../../../helpers/until';

test('the folder of an agent that was terminated goes to its heir, that of one whom this server does not know stays', async () => {
  const { host, cwd, ...own } = testHost();
  const { temporal } = await testClient();
  const log = jest.fn();
  const { trees, looks } = new HostWorkspaces({
    client: temporal,
    host: 'local',
    sessions: host,
    sandbox: undefined,
    checkpoints: { ...DEFAULT_CHECKPOINTS, enabled: 'on' },
    keepMs: 0,
    log,
  });
  try {
    writeFileSync(join(cwd, 'file'), 'text');
    const folderOf = async (agent: string): Promise<string> =>
      (await trees.make({ agent, born: '1', of: cwd, hash: null, for: 'parent' })).folder;
    const [ended, unknown] = [uniqueId('ended'), uniqueId('unknown')];
    const folders = [await folderOf(ended), await folderOf(unknown)];
    const start = { workflowId: agentWorkflowId(ended), taskQueue: uniqueId('nobody') };
    await (await temporal.workflow.start('agent', start)).terminate();
    looks.start({ now: true });
    await until(() => !existsSync(folders[0] ?? ''));
    await looks.end();
    expect(folders.map((folder) => existsSync(folder))).toEqual([false, true]);
    expect(log).not.toHaveBeenCalled();
  } finally {
    await own.end();
  }
});
