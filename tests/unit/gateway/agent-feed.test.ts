// What a feed makes of workflows that the server does not know.
import { WorkflowNotFoundError } from '@temporalio/client';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { AgentFeed } from '../../../gateway/events/agent-feed';
import { until } from '../../helpers/until';

test('an agent that the server no longer keeps is gone, and one whose turn is only about to start is not', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-feed-'));
  let isKept = true;
  const looks: string[] = [];
  const describe = (workflowId: string): Promise<object> => {
    looks.push(workflowId);
    if (workflowId !== 'agent/a' || !isKept)
      return Promise.reject(new WorkflowNotFoundError('not found', workflowId, undefined));
    return Promise.resolve({ runId: 'r', historyLength: 1, status: { name: 'RUNNING' }, raw: {} });
  };
  const state = { runId: 'r', currentTurn: 'turn/a/1', shells: [] };
  const client = {
    agent: () => ({ workflowId: 'agent/a', state: () => Promise.resolve(state) }),
    temporal: {
      workflow: { getHandle: (id: string) => ({ describe: () => describe(id) }) },
    },
  } as unknown as HoldfastClient;
  const feed = new AgentFeed(client, dataDir, 'a', () => undefined);
  const leave = feed.follow();
  try {
    await until(() => looks.filter((id) => id === 'turn/a/1').length > 1);
    expect(feed.silence).toBeUndefined();
    isKept = false;
    await until(() => feed.silence !== undefined);
  } finally {
    leave();
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 10_000);
