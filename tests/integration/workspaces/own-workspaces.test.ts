// Agents that work in a folder of their own: forks with the files of a moment, and sub-agents.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentHandle } from '../../../client/agents/agent-handle';
import { MIB } from '../../../contracts/sessions/quotas';
import { WITHOUT_LIMITS } from '../../../contracts/workspaces/file-reach';
import { DEFAULT_CHECKPOINTS } from '../../../contracts/workspaces/settings';
import { Workspaces } from '../../../workspaces/workspaces';
import { call, uniqueId, type Reply } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';
import { everythingIn } from './workspace';
import { AgentsWithFiles, look, messagesOf, run } from './agents-with-files';

const agents = new AgentsWithFiles();
const { at, text } = agents;
const { engine, scripts } = agents;
const settings: AgentsWithFiles['settings'] = (...given) => agents.settings(...given);
const conversation: AgentsWithFiles['conversation'] = (replies) => agents.conversation(replies);

beforeAll(() => engine.start(), 60_000);
afterAll(async () => {
  expect(await agents.close()).toEqual([]);
}, 60_000);
beforeEach(() => agents.begin());
afterEach(() => agents.end());

/** Each by another hand: a shell, tools, a script that calls a tool, and a program. */
const MANY_HANDS: Reply[] = [
  run(
    'mkdir -p a/b empty; echo one > a/b/one; echo x > exec; chmod 755 exec; ln -s a/b link; echo p > private',
  ),
  run(
    'chmod 600 private; printf "\\0\\1" > binary; echo gone > gone; echo file > file; mkdir folder; echo in > folder/in',
  ),
  { text: call('write_file', { file_path: 'tool.txt', content: 'by a tool\n' }) },
  {
    text: call('apply_patch', {
      input:
        '*** Begin Patch\n*** Update File: a/b/one\n@@\n-one\n+uno\n*** Delete File: gone\n*** End Patch',
    }),
  },
  {
    text: call('code_execution_tool', {
      runtime: 'python',
      code: 'import codex_tools, os\ncodex_tools.write_file(file_path="script.txt", content="by a script\\n")\nos.rename("exec", "moved")',
    }),
  },
  {
    text: call('shell', {
      command: ['sh', '-c', 'rm file; mkdir file; echo x > file/x; rm -r folder; echo f > folder'],
    }),
  },
  run('rm link; ln -s moved link; rmdir empty; chmod 700 a; echo two >> binary; mkdir later'),
];

test('each state of many hands comes back in a rewind and in a fork, file by file', async () => {
  // Behind the steps, the model says what it has said before.
  const replies = [...MANY_HANDS, ...MANY_HANDS.map(() => ({ text: 'done' }))];
  const agent = await conversation(replies);
  const states = [everythingIn(agents.folder)];
  await agent.send('go');
  const last = everythingIn(agents.folder);
  for (let step = MANY_HANDS.length - 1; step >= 0; step--) {
    await agent.workspace.rewind(step, { what: 'files' });
    states[step] = everythingIn(agents.folder);
  }
  expect(states[0]).toEqual({ '': 'folder 700' });
  // As the steps left it, not only as it was brought back.
  expect(Object.keys(states[1] ?? {})).toEqual(
    expect.arrayContaining(['a/b/one', 'empty', 'exec', 'link', 'private']),
  );
  expect(states[2]).toMatchObject({ private: `file 600 ${Buffer.from('p\n').toString('base64')}` });
  expect(states[4]).not.toHaveProperty('gone');
  expect(states[5]).toHaveProperty(['script.txt']);
  expect(states[6]).toMatchObject({ 'file/x': expect.any(String) as string, link: 'link a/b' });
  await agent.workspace.rewind(MANY_HANDS.length, { what: 'files', force: true });
  expect(everythingIn(agents.folder)).toEqual(last);
  const fork = await agent.fork(uniqueId('fork'), { ...settings(replies), files: true });
  await until(async () => (await fork.ownState()).settings.cwd !== agents.folder);
  const { cwd = '' } = (await fork.ownState()).settings;
  expect(everythingIn(cwd)).toEqual(last);
  await Promise.all([fork.stop(), agent.stop()]);
}, 60_000);

test.each([{ files: true }, { files: false }])(
  'the steps that a fork begins with come back also when the original is gone: %j',
  async ({ files }) => {
    const agent = await conversation([run('echo one > a.txt'), run('echo two > a.txt'), { text: 'written' }]);
    await agent.send('write');
    const fork = await agent.fork(uniqueId('fork'), { ...settings([look]), files });
    const workflow = engine.client.temporal.workflow.getHandle(fork.workflowId);
    const isKept = async (): Promise<boolean> => {
      const { events } = await workflow.fetchHistory();
      return (
        JSON.stringify(events).includes('"keepCheckpoints"') &&
        !(await workflow.describe()).raw.pendingActivities?.length
      );
    };
    await until(isKept);
    await agent.stop();
    await agent.result();
    const store = new Workspaces({
      ...{ folder: join(engine.dataDir, 'checkpoints', 'local'), settings: DEFAULT_CHECKPOINTS },
      reachOf: () => WITHOUT_LIMITS,
      log: () => undefined,
    });
    await store.collect({ isLiving: (one) => one !== agent.id });
    expect(await store.agents()).not.toContain(agent.id);
    await fork.workspace.rewind(1, { what: 'files', force: true });
    const { cwd = '' } = (await fork.ownState()).settings;
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n');
    await fork.stop();
  },
  60_000,
);

describe('a fork with files', () => {
  test('works in a folder of its own; three at once do not see each other’s files', async () => {
    execFileSync('git', ['init', '-q'], { cwd: agents.folder });
    const agent = await conversation([run('echo one > a.txt'), { text: 'first' }, run('echo two > a.txt')]);
    await agent.send('write');
    const { messages } = await agent.ownState();
    await agent.send('more');
    const forks = await Promise.all(
      [1, 2, 3].map(async (n) => {
        const fork = await agent.fork(uniqueId('fork'), {
          // Behind those that the fork begins with.
          ...settings([
            look,
            look,
            run(`cat a.txt; ls; echo ${n} > a.txt; echo ${n} > own-${n}`),
            { text: 'done' },
          ]),
          ...{ at: messages, files: true },
        });
        await fork.send('go on');
        return fork;
      }),
    );
    for (const [index, fork] of forks.entries()) {
      const { cwd = '' } = (await fork.ownState()).settings;
      expect(cwd).not.toBe(agents.folder);
      const listed = execFileSync('ls', ['-A'], { cwd, encoding: 'utf8' }).split('\n').filter(Boolean);
      expect(listed).toEqual(['.git', 'a.txt', `own-${index + 1}`]);
      const output = (await messagesOf(fork)).findLast((message) => message.role === 'tool');
      expect(output?.role === 'tool' && output.content).toMatch(/^one\na\.txt\n/);
      expect(execFileSync('git', ['status', '--short'], { cwd, encoding: 'utf8' })).toMatch(/\?\? own-/);
      await fork.stop();
    }
    expect(text('a.txt')).toBe('two\n');
    await agent.stop();
  }, 60_000);
});

describe('a sub-agent with a workspace of its own', () => {
  const spawn = (replies: Reply[]): Reply => ({
    text: call('spawn_agent', {
      role: 'Writer',
      prompt: 'write',
      model: scripts.model(replies),
      workspace: 'own',
    }),
  });
  const awaited = (parent: string): Reply => ({
    text: call('wait_for_agents', { agent_ids: [`${parent}-writer-1`] }),
  });
  const apply = (parent: string, dryRun = false): Reply => ({
    text: call('apply_workspace', { agent_id: `${parent}-writer-1`, dry_run: dryRun }),
  });
  const resultsOf = async (agent: AgentHandle): Promise<string[]> =>
    (await messagesOf(agent)).flatMap((message) => (message.role === 'tool' ? [message.content] : []));

  test('changes nothing of its parent’s until that applies it', async () => {
    writeFileSync(at('a.txt'), 'one\n');
    const id = uniqueId('parent');
    const agent = engine.client.agent(id);
    await agent.start({
      task: 'go',
      ...settings([
        spawn([run('echo two >> a.txt; echo b > b.txt; pwd'), { text: 'written' }]),
        awaited(id),
        run('cat a.txt; echo mine > c.txt'),
        apply(id, true),
        apply(id),
        { text: 'done' },
      ]),
    });
    expect(await agent.result()).toMatchObject({ reason: 'answered' });
    const [, ended = '', own, look, applied] = await resultsOf(agent);
    expect(JSON.parse(ended)).toMatchObject({
      results: { [`${id}-writer-1`]: { changes: { added: 1, modified: 1, deleted: 0 } } },
    });
    expect(own).toMatch(/^one\n/);
    expect([look, applied]).toEqual([
      'Would apply: 1 added, 1 modified\nM a.txt\nA b.txt',
      'Applied: 1 added, 1 modified\nM a.txt\nA b.txt',
    ]);
    expect([text('a.txt'), text('b.txt'), text('c.txt')]).toEqual(['one\ntwo\n', 'b\n', 'mine\n']);
    // Nothing names it any more.
    expect(existsSync(join(engine.dataDir, 'trees', 'local', `${id}-writer-1`))).toBe(false);
  }, 60_000);

  test('whose worker is killed while its folder is filled begins with all of it', async () => {
    for (let n = 0; n < 50; n++) writeFileSync(at(`file-${n}`), `${n}\n`);
    const id = uniqueId('parent');
    const agent = engine.client.agent(id);
    const result = await engine.crashingAt('rewind-half', async () => {
      await agent.start({
        task: 'go',
        ...settings([
          spawn([run('cat file-* | sort -n | md5sum; ls | wc -l; echo x > x'), { text: 'written' }]),
          awaited(id),
          apply(id),
          { text: 'done' },
        ]),
      });
      return agent.result();
    });
    expect(result).toMatchObject({ reason: 'answered' });
    expect((await resultsOf(agent)).at(-1)).toBe('Applied: 1 added\nA x');
    const [said] = (await messagesOf(engine.client.agent(`${id}-writer-1`))).filter(
      ({ role }) => role === 'tool',
    );
    expect(said).toMatchObject({ content: expect.stringMatching(/\n50\n/) as string });
  }, 60_000);

  test('whose folder has a file that no checkpoint holds leaves it there, and its parent is told', async () => {
    const id = uniqueId('parent');
    const agent = engine.client.agent(id);
    await agent.start({
      task: 'go',
      ...settings([
        // Larger than `max_file_mb`.
        spawn([run('truncate -s 65M large; echo b > b.txt'), { text: 'written' }]),
        awaited(id),
        apply(id, true),
        apply(id),
        apply(id),
        { text: 'done' },
      ]),
    });
    await agent.result();
    const folder = join(engine.dataDir, 'trees', 'local', `${id}-writer-1`);
    const [, ended = '', ...applied] = await resultsOf(agent);
    expect(JSON.parse(ended)).toMatchObject({ results: { [`${id}-writer-1`]: { folder } } });
    const told = `Not applied, since no checkpoint holds them (too large, or not readable): large. They are still in ${folder}.`;
    expect(applied).toEqual([
      `Would apply: 1 added\nA b.txt\n${told}`,
      `Applied: 1 added\nA b.txt\n${told}`,
      `Applied: nothing changed\n${told}`,
    ]);
    expect([existsSync(at('large')), statSync(join(folder, 'large')).size]).toEqual([false, 65 * MIB]);
  }, 60_000);

  test('that was terminated leaves nothing, and nobody is told that its changes are there', async () => {
    const id = uniqueId('parent');
    const child = `${id}-writer-1`;
    const agent = engine.client.agent(id);
    await agent.start({
      task: 'go',
      ...settings([
        spawn([run('echo theirs > a.txt; touch began; sleep 999')]),
        awaited(id),
        apply(id),
        { text: 'done' },
      ]),
    });
    await until(() => existsSync(join(engine.dataDir, 'trees', 'local', child, 'began')));
    await engine.client.temporal.workflow.getHandle(engine.client.agent(child).workflowId).terminate();
    await agent.result();
    const [, ended = '', applied] = await resultsOf(agent);
    expect(JSON.parse(ended)).toMatchObject({
      results: { [child]: { status: 'ended', workspace: 'not_left' } },
    });
    expect(applied).toMatch(/whose own workspace was not left to you.*it was terminated/);
    expect(applied).toMatch(/Nothing that it changed there is in your folder/);
    expect(existsSync(at('a.txt'))).toBe(false);
  }, 60_000);

  test('whose changes conflict is not applied, and the conflicts are told', async () => {
    writeFileSync(at('a.txt'), 'one\n');
    const id = uniqueId('parent');
    const agent = engine.client.agent(id);
    await agent.start({
      task: 'go',
      ...settings([
        spawn([run('echo theirs > a.txt; echo b > b.txt'), { text: 'written' }]),
        run('echo ours > a.txt'),
        awaited(id),
        apply(id),
        { text: 'done' },
      ]),
    });
    await agent.result();
    expect((await resultsOf(agent)).at(-1)).toMatch(/workspace_conflict.*a\.txt[^]*nothing was applied/);
    expect([text('a.txt'), existsSync(at('b.txt'))]).toEqual(['ours\n', false]);
  }, 60_000);
});
