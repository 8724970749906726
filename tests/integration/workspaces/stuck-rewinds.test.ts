// Rewinds of agents that meet something in their way that stays: the caller hears of it, and the agent goes on.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import type { AgentHandle } from '../../../client/agents/agent-handle';
import { holdLock } from '../../../system/lock';
import { WorkspaceFolder } from '../../../workspaces/record/workspace-state';
import { uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';
import { AgentsWithFiles, messagesOf, run } from './agents-with-files';

const agents = new AgentsWithFiles();
const { at, text, engine } = agents;

beforeAll(() => engine.start(), 60_000);
afterAll(async () => {
  expect(await agents.close()).toEqual([]);
}, 60_000);
beforeEach(() => agents.begin());
afterEach(() => agents.end());

const twoSteps = [run('echo one > a; echo one > b'), run('echo two > a; echo two > b'), { text: 'written' }];
/** A file in place of the folder. */
const block = (): void => {
  renameSync(agents.folder, `${agents.folder}.moved`);
  writeFileSync(agents.folder, '');
};
const unblock = (): void => {
  rmSync(agents.folder);
  renameSync(`${agents.folder}.moved`, agents.folder);
};
/** The host waits for the returned function before it rewinds the folder. */
const lockOfFolder = (): Promise<() => void> => {
  const store = join(engine.dataDir, 'checkpoints', 'local');
  return holdLock(WorkspaceFolder.of(store, realpathSync(agents.folder)).lock);
};
const acceptedUpdates = async (handle: WorkflowHandle): Promise<number> => {
  const { events } = await handle.fetchHistory();
  return (events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length;
};
const FAILED = { code: 'checkpoint_failed', facts: { reason: expect.stringMatching(/ENOTDIR/) as string } };

describe('a rewind that meets an obstacle that stays', () => {
  test('fails with its reason, also one that only looks; with the obstacle gone it is done', async () => {
    const agent = await agents.conversation([...twoSteps, { text: 'it goes on' }]);
    await agent.send('write');
    block();
    await expect(agent.workspace.rewind(1, { dryRun: true })).rejects.toMatchObject(FAILED);
    await expect(agent.workspace.rewind(1)).rejects.toMatchObject(FAILED);
    unblock();
    expect(await agent.send('and now?')).toMatchObject({ answer: 'it goes on' });
    await agent.workspace.rewind(1);
    expect([text('a'), text('b')]).toEqual(['one\n', 'one\n']);
    await agent.stop();
  });

  test('of an agent that has ended fails, too', async () => {
    const agent = engine.client.agent(`ended-${Date.now()}`);
    await agent.start({ task: 'write', ...agents.settings(twoSteps) });
    await agent.result();
    block();
    await expect(agent.workspace.rewind(1, { what: 'files' })).rejects.toMatchObject(FAILED);
    unblock();
    await agent.workspace.rewind(1, { what: 'files' });
    expect(text('a')).toBe('one\n');
  });

  test('does not keep the agent from being stopped; one that waited for it is refused', async () => {
    const agent = await agents.conversation(twoSteps);
    await agent.send('write');
    const release = await lockOfFolder();
    const handle = engine.client.temporal.workflow.getHandle(agent.workflowId);
    const failed = expect(agent.workspace.rewind(1)).rejects.toMatchObject({ code: 'checkpoint_failed' });
    await until(async () => (await handle.describe()).raw.pendingActivities?.length === 1);
    const refused = expect(agent.workspace.rewind(1)).rejects.toMatchObject({ code: 'agent_closed' });
    // The message that was sent, the first rewind and this one.
    await until(async () => (await acceptedUpdates(handle)) === 3);
    await agent.stop();
    block();
    release();
    await Promise.all([failed, refused, agent.result()]);
    unblock();
  });

  const probe = mkdtempSync(join(tmpdir(), 'holdfast-immutable-'));
  const canLock = spawnSync('chattr', ['+i', probe]).status === 0;
  spawnSync('chattr', ['-i', probe]);
  rmSync(probe, { recursive: true });
  (canLock ? test : test.skip)('in its middle is finished by the next request', async () => {
    const agent = await agents.conversation(twoSteps);
    await agent.send('write');
    spawnSync('chattr', ['+i', at('b')]);
    try {
      await expect(agent.workspace.rewind(1)).rejects.toMatchObject({
        ...{ code: 'checkpoint_failed', facts: { reason: expect.stringMatching(/immutable/) as string } },
      });
      expect([text('a'), text('b')]).toEqual(['one\n', 'two\n']);
    } finally {
      spawnSync('chattr', ['-i', at('b')]);
    }
    expect(await agent.workspace.rewind(1)).toMatchObject({ step: 4 });
    expect([text('a'), text('b')]).toEqual(['one\n', 'one\n']);
    await agent.stop();
  });
});

describe('a rewind whose worker is killed in its middle', () => {
  const half = (): boolean => text('a') === 'one\n' && text('b') === 'two\n';
  const whole = (): boolean => text('a') === 'one\n' && text('b') === 'one\n';

  test('is finished as soon as the next worker has started, though nobody asks for it any more', async () => {
    const agent = await agents.conversation(twoSteps);
    await agent.send('write');
    const handle = engine.client.temporal.workflow.getHandle(agent.workflowId);
    const ask = (): Promise<void> => {
      agent.workspace.rewind(1).catch(() => undefined);
      return Promise.resolve();
    };
    await engine.crashingAt('rewind-half', ask, async () => {
      expect(half()).toBe(true);
      await handle.terminate();
    });
    await until(whole);
  }, 60_000);

  test('is finished and recorded after the server has given its delivery up, and can be undone', async () => {
    const agent = await agents.conversation(twoSteps);
    await agent.send('write');
    const handle = engine.client.temporal.workflow.getHandle(agent.workflowId);
    const isGivenUp = async (): Promise<boolean> =>
      ((await handle.fetchHistory()).events ?? []).some((event) => event.activityTaskTimedOutEventAttributes);
    const rewound = await engine.crashingAt(
      'rewind-half',
      () => agent.workspace.rewind(1),
      async () => {
        await until(isGivenUp, 90_000);
        expect(half()).toBe(true);
      },
    );
    expect(rewound).toMatchObject({ step: 4, files: { changes: { counts: { modified: 2 } } } });
    expect(whole()).toBe(true);
    await agent.workspace.rewind(3);
    expect([text('a'), text('b')]).toEqual(['two\n', 'two\n']);
    await agent.stop();
  }, 150_000);
});

test('a rewind brings back the folder that the agent itself removed', async () => {
  const agent = await agents.conversation([...twoSteps, run(`rm -rf "$PWD"`), { text: 'gone' }]);
  await agent.send('write');
  await agent.send('remove');
  expect(existsSync(agents.folder)).toBe(false);
  expect(await agent.workspace.rewind(3, { dryRun: true })).toMatchObject({
    files: { changes: { counts: { added: 2 } } },
  });
  await agent.workspace.rewind(3);
  expect([text('a'), text('b')]).toEqual(['two\n', 'two\n']);
  await agent.stop();
});

test('a rewind that is refused has ended nothing, though it was to stop what runs', async () => {
  const agent = await agents.conversation([
    run('echo one > a'),
    run('echo two > a; while sleep 0.2; do :; done'),
    { text: 'it runs' },
  ]);
  await agent.send('write');
  writeFileSync(at('a'), 'mine\n');
  const stop = { stop: true };
  await expect(agent.workspace.rewind(1, stop)).rejects.toMatchObject({
    code: 'workspace_changed',
    message: expect.stringMatching(
      /somebody else, or by what runs in session 0 \(1\): got a; .*With `--force --stop` what runs is ended/s,
    ) as string,
  });
  expect(await agent.workspace.rewind(1, { force: true, dryRun: true })).toMatchObject({ running: [0] });
  expect(await agent.workspace.rewind(1, { ...stop, force: true })).toMatchObject({ running: [] });
  expect(text('a')).toBe('one\n');
  await agent.stop();
});

describe('a rewind that came by signal and that the host delays', () => {
  /** Its host waits for the returned function. */
  async function delayed(agent: AgentHandle): Promise<() => void> {
    const release = await lockOfFolder();
    const handle = engine.client.temporal.workflow.getHandle(agent.workflowId);
    await handle.signal('rewind', { to: 1 });
    await until(async () => (await handle.describe()).raw.pendingActivities?.length === 1);
    return release;
  }

  test('is recorded before the agent that is stopped meanwhile ends', async () => {
    const agent = await agents.conversation(twoSteps);
    await agent.send('write');
    const release = await delayed(agent);
    await agent.stop();
    const ended = agent.result().then(() => 'ended');
    expect(await Promise.race([ended, delay(3_000, 'it waits')])).toBe('it waits');
    release();
    await ended;
    expect(text('a')).toBe('one\n');
    expect((await messagesOf(agent)).at(-1)).toMatchObject({ role: 'rewind', to: 1 });
  });

  test('is no idle time of the agent: a message that follows is answered', async () => {
    const agent = engine.client.agent(uniqueId('files'));
    await agent.start({ mode: 'conversation', idleMs: 4_000, ...agents.settings(twoSteps) });
    await agent.send('write');
    const release = await delayed(agent);
    await delay(5_000);
    expect(await agent.ownState()).toMatchObject({ status: 'idle' });
    release();
    expect(await agent.send('and now?')).toMatchObject({ reason: 'answered' });
    expect((await messagesOf(agent)).filter(({ role }) => role === 'rewind')).toHaveLength(1);
    await agent.stop();
  });
});
