// What a feed makes of workflows that the server does not know.
import { WorkflowNotFoundError } from '@temporalio/client';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { AgentFeed, AgentFeeds } from '../../../gateway/events/agent-feed';
import type { Route } from '../../../gateway/http/route';
import { EVENT_ROUTES } from '../../../gateway/routes/event-routes';
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
  const feed = new AgentFeed({ client, dataDir, isElsewhere: () => false }, 'a', () => undefined);
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

test('a stream that nobody reads leaves no feed behind, nor does one that has ended', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-feed-'));
  const never = new Promise(() => undefined);
  const client = {
    agent: () => ({ workflowId: 'agent/a', run: () => Promise.resolve({ runId: 'r', isOver: false }) }),
    temporal: { workflow: { getHandle: () => ({ describe: () => never }) } },
  };
  const feeds = new AgentFeeds();
  const kept = (): number => (feeds as unknown as { feeds: Map<string, AgentFeed> }).feeds.size;
  const caller = { id: 'v', name: 'v', role: 'viewer', agents: ['*'], expiresAt: null };
  const registers = { tokens: { callerWith: () => caller }, oidc: null };
  const context = {
    client,
    dataDir,
    isElsewhere: () => false,
    feeds,
    over: new AbortController().signal,
    ...registers,
  };
  const route = EVENT_ROUTES.find(({ name }) => name === 'followAgent') as unknown as Route;
  const follow = async (signal: AbortSignal): Promise<ReadableStream<Uint8Array>> => {
    const request = { params: { agent: 'a' }, query: {}, connection: { headers: {} } };
    const answer = (await route.run({ ...request, context, caller, signal } as never)) as Response;
    return answer.body as ReadableStream<Uint8Array>;
  };
  try {
    // As the server answers HEAD.
    await (await follow(new AbortController().signal)).cancel();
    const gone = new AbortController();
    await follow(gone.signal);
    gone.abort();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(kept()).toBe(0);
    const left = new AbortController();
    const reader = (await follow(left.signal)).getReader();
    await reader.read();
    // What comes first is no event of the feed.
    reader.read().catch(() => undefined);
    await until(() => kept() === 1);
    left.abort();
    await until(() => kept() === 0);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 10_000);
