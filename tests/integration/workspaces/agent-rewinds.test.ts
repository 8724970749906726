// What agents did to files: checkpoints of their steps, what differs between them, and rewinds. The store itself is tested
// beside this file.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import type { AgentHandle } from '../../../client/agents/agent-handle';
import type { Message } from '../../../contracts/agents/agent';
import { call, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';
import { AgentsWithFiles, look, messagesOf, run } from './agents-with-files';

const agents = new AgentsWithFiles();
const { at, text } = agents;
const { engine } = agents;
const settings: AgentsWithFiles['settings'] = (...given) => agents.settings(...given);
const conversation: AgentsWithFiles['conversation'] = (replies) => agents.conversation(replies);

beforeAll(() => engine.start(), 60_000);
afterAll(async () => {
  expect(await agents.close()).toEqual([]);
}, 60_000);
beforeEach(() => agents.begin());
afterEach(() => agents.end());

const checkpointsOf = async (agent: AgentHandle): Promise<Extract<Message, { role: 'checkpoint' }>[]> => {
  return (await messagesOf(agent)).filter((message) => message.role === 'checkpoint');
};

describe('a checkpoint', () => {
  test('follows each step that may have changed files, and no other', async () => {
    writeFileSync(at('a.txt'), 'one\n');
    const agent = await conversation([
      look,
      run('echo two >> a.txt; echo new > b.txt'),
      look,
      run('true'),
      { text: 'done' },
      { text: 'nothing to do' },
    ]);
    await agent.send('go');
    await agent.send('and now?');
    const seen = (await checkpointsOf(agent)).map(({ step, before = false, outcome }) => [
      ...[step, before],
      outcome.state === 'kept' ? outcome.changes : outcome,
    ]);
    const nothing = { added: 0, modified: 0, deleted: 0 };
    expect(seen).toEqual([
      [2, true, null],
      [2, false, { added: 1, modified: 1, deleted: 0 }],
      [4, false, nothing],
    ]);
    await agent.stop();
  });

  test('is of what a command changed after its step had gone on, too', async () => {
    const agent = await conversation([
      run('echo early > early; while ! [ -e go ]; do sleep 0.05; done; echo late > late'),
      { text: call('wait', { sessions: [0], for: 'exit', timeout_ms: 20_000 }) },
      { text: 'done' },
    ]);
    const answered = agent.send('go');
    await until(
      async () =>
        existsSync(at('early')) && ((await agent.state()).turn?.doing.startsWith('Running wait') ?? false),
    );
    writeFileSync(at('go'), '');
    await answered;
    const { changes } = await agent.workspace.diff({ step: 2, lines: false });
    expect(changes.paths.map(({ path }) => path)).toEqual(expect.arrayContaining(['late']));
    await agent.stop();
  });

  test('that cannot be taken is told as missing, and the step goes on', async () => {
    const gone = at('gone');
    mkdirSync(gone);
    const agent = engine.client.agent(uniqueId('files'));
    await agent.start({ task: 'go', ...settings([run(`rm -r ${gone}`), { text: 'done' }], gone) });
    expect(await agent.result()).toMatchObject({ reason: 'answered' });
    const [, after] = await checkpointsOf(agent);
    expect(after?.outcome).toMatchObject({
      state: 'missing',
      reason: expect.stringMatching(/ENOENT/) as string,
    });
  });
});

describe('a rewind', () => {
  /** Steps 1 and 2 write a.txt, step 3 answers. */
  const twoSteps = [run('echo one > a.txt'), run('echo two > a.txt; mkdir empty'), { text: 'written' }];

  test('brings back files and conversation; another one undoes it', async () => {
    const agent = await conversation(twoSteps);
    await agent.send('write');
    const rewound = await agent.workspace.rewind(1);
    expect(rewound).toMatchObject({ step: 4, to: 1, running: [], messages: 3 });
    expect(rewound.files?.changes.paths.map(({ path, kind }) => [path, kind])).toEqual([
      ['a.txt', 'modified'],
      ['empty/', 'deleted'],
    ]);
    expect([text('a.txt'), existsSync(at('empty'))]).toEqual(['one\n', false]);
    // The script goes on behind what the model sees: with the second step.
    expect(await agent.send('again')).toMatchObject({ answer: 'written', steps: 2 });
    await agent.workspace.rewind(4);
    expect([text('a.txt'), existsSync(at('empty'))]).toEqual(['one\n', false]);
    await agent.workspace.rewind(3);
    expect([text('a.txt'), existsSync(at('empty'))]).toEqual(['two\n', true]);
    const steps = await agent.workspace.steps();
    expect(steps.map(({ step, kind, isRewound }) => `${step} ${kind}${isRewound ? ' -' : ''}`)).toEqual([
      '1 calls',
      '2 calls',
      '3 answer',
      '4 rewind -',
      '5 calls -',
      '6 answer -',
      '7 rewind -',
      '8 rewind',
    ]);
    await agent.stop();
  });

  test('of the files alone is told to the model', async () => {
    const agent = await conversation([
      ...twoSteps,
      {
        expect: 'brought back to what they were after step 1: 1 modified, 1 deleted',
        text: 'seen',
      },
    ]);
    await agent.send('write');
    await agent.workspace.rewind(1, { what: 'files' });
    expect(await agent.send('again')).toMatchObject({ answer: 'seen' });
    await agent.stop();
  });

  test('or a fork to a step whose checkpoint is missing is refused, and brings back no other step', async () => {
    const folder = at('gone');
    mkdirSync(folder);
    const agent = engine.client.agent(uniqueId('files'));
    const steps = [
      run('echo one > a.txt'),
      run(`cd /; rm -r ${folder}`),
      run(`mkdir ${folder}; cd ${folder}; echo three > a.txt`),
    ];
    await agent.start({ mode: 'conversation', ...settings([...steps, { text: 'written' }], folder) });
    await agent.send('write');
    const missing = (await messagesOf(agent)).findIndex(
      (message) => message.role === 'checkpoint' && message.outcome.state === 'missing',
    );
    await expect(agent.workspace.rewind(2)).rejects.toMatchObject({
      ...{ code: 'no_checkpoint', facts: { got: 'step 2' } },
      message: expect.stringMatching(/allowed another step, or the conversation alone/) as string,
    });
    await expect(agent.workspace.at(missing + 1)).rejects.toMatchObject({ code: 'no_checkpoint' });
    expect(text('gone/a.txt')).toBe('three\n');
    await agent.workspace.rewind(1);
    expect(text('gone/a.txt')).toBe('one\n');
    await agent.stop();
    await expect(agent.workspace.rewind(2, { what: 'files' })).rejects.toMatchObject({
      ...{ code: 'no_checkpoint' },
      message: expect.stringMatching(/allowed another step, since what the files were/) as string,
    });
    expect(text('gone/a.txt')).toBe('one\n');
  });

  test('that only looks changes nothing', async () => {
    const agent = await conversation(twoSteps);
    await agent.send('write');
    expect(await agent.workspace.rewind(0, { dryRun: true })).toMatchObject({
      ...{ step: null, messages: 6 },
      files: { changes: { counts: { added: 0, modified: 0, deleted: 2 } } },
    });
    expect(text('a.txt')).toBe('two\n');
    expect((await agent.transcript()).messages.some(({ role }) => role === 'rewind')).toBe(false);
    await agent.stop();
  });

  test('is done once for an id, and refused for another step or another part with the same id', async () => {
    const agent = await conversation(twoSteps);
    await agent.send('write');
    const first = await agent.workspace.rewind(1, {}, 'once');
    writeFileSync(at('a.txt'), 'mine\n');
    expect(await agent.workspace.rewind(1, {}, 'once')).toMatchObject({ step: first.step });
    expect(text('a.txt')).toBe('mine\n');
    await expect(agent.workspace.rewind(2, {}, 'once')).rejects.toMatchObject({ code: 'id_conflict' });
    const files = await agent.workspace.rewind(1, { what: 'files', force: true }, 'files');
    expect(await agent.workspace.rewind(1, { what: 'files' }, 'files')).toMatchObject({ step: files.step });
    for (const [what, id] of [
      ['files', 'once'],
      ['both', 'files'],
      ['conversation', 'files'],
    ] as const)
      await expect(agent.workspace.rewind(1, { what }, id)).rejects.toMatchObject({ code: 'id_conflict' });
    await agent.stop();
  });

  test('is refused with the list where somebody else changed files; forced, it keeps theirs', async () => {
    const agent = await conversation(twoSteps);
    await agent.send('write');
    writeFileSync(at('a.txt'), 'mine\n');
    writeFileSync(at('untouched'), 'mine, too\n');
    await expect(agent.workspace.rewind(1)).rejects.toMatchObject({
      ...{ code: 'workspace_changed' },
      facts: { got: 'a.txt, untouched', count: 2 },
    });
    expect(text('a.txt')).toBe('mine\n');
    const forced = await agent.workspace.rewind(1, { force: true });
    expect([text('a.txt'), existsSync(at('untouched'))]).toEqual(['one\n', false]);
    await agent.workspace.rewind((forced.step ?? 0) - 1, { what: 'files' });
    expect([text('a.txt'), text('untouched')]).toEqual(['mine\n', 'mine, too\n']);
    await agent.stop();
  });

  test('is refused where a person changed files between two turns', async () => {
    const agent = await conversation([...twoSteps, run('echo three > c.txt'), { text: 'more' }]);
    await agent.send('write');
    writeFileSync(at('a.txt'), 'mine\n');
    await agent.send('more');
    await expect(agent.workspace.rewind(1)).rejects.toMatchObject({ facts: { got: 'a.txt' } });
    // Between the turns: with what the person had written.
    await agent.workspace.rewind(3);
    expect([text('a.txt'), existsSync(at('c.txt'))]).toEqual(['mine\n', false]);
    await agent.stop();
  });

  test('is refused during a turn, and for a step that is not there', async () => {
    const agent = await conversation([
      ...twoSteps,
      run('while ! [ -e go ]; do sleep 0.05; done'),
      { text: 'went on' },
    ]);
    await agent.send('write');
    const second = agent.send('wait');
    await until(async () => (await agent.state()).turn?.step === 1);
    await expect(agent.workspace.rewind(1)).rejects.toMatchObject({ code: 'agent_working' });
    writeFileSync(at('go'), '');
    await second;
    await expect(agent.workspace.rewind(9)).rejects.toMatchObject({
      message: expect.stringMatching(/got 9, allowed 0, or 1 to 5/) as string,
    });
    await agent.stop();
  });

  test('names the sessions in which commands run, and ends them if asked', async () => {
    const agent = await conversation([
      run('echo one > a.txt'),
      run('echo two > a.txt; while sleep 0.2; do :; done'),
      { text: 'it runs' },
    ]);
    await agent.send('write');
    expect(await agent.workspace.rewind(1, { dryRun: true })).toMatchObject({ running: [0] });
    expect(await agent.workspace.rewind(1, { stop: true })).toMatchObject({ running: [] });
    expect(text('a.txt')).toBe('one\n');
    await agent.stop();
  });

  test('comes by signal, too; one that is refused is shown', async () => {
    const agent = await conversation(twoSteps);
    await agent.send('write');
    const workflow = engine.client.temporal.workflow.getHandle(agent.workflowId);
    await workflow.signal('rewind', { to: 'x' });
    await workflow.signal('rewind', { to: 7 });
    await workflow.signal('rewind', { to: 1, what: 'files' });
    await until(() => text('a.txt') === 'one\n');
    const { refused } = await agent.ownState();
    expect(refused).toEqual([
      expect.stringMatching(/The rewind request is invalid/),
      expect.stringMatching(/got 7, allowed/),
    ]);
    await agent.stop();
  });

  test.each(['rewind-journalled', 'rewind-half', 'rewind-applied', 'rewind-recorded'] as const)(
    'whose worker is killed at %s is done whole by the next one',
    async (point) => {
      const agent = await conversation([
        run('for n in 1 2 3 4 5; do echo $n > $n; done'),
        run('rm 1 2; echo x > 3; mkdir 6; echo 7 > 6/7'),
        { text: 'written' },
      ]);
      await agent.send('write');
      const rewound = await engine.crashingAt(point, () => agent.workspace.rewind(1));
      expect(rewound).toMatchObject({ to: 1, step: 4 });
      expect([1, 2, 3, 4, 5].map((n) => text(String(n)))).toEqual(['1\n', '2\n', '3\n', '4\n', '5\n']);
      expect(existsSync(at('6'))).toBe(false);
      await agent.workspace.rewind(3);
      expect([existsSync(at('1')), text('3'), text('6/7')]).toEqual([false, 'x\n', '7\n']);
      await agent.stop();
    },
    60_000,
  );

  const LONG = { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000, promptMs: 600_000 };
  const cutOff = [
    {
      how: 'a recovery',
      limits: {},
      cut: async (agent: AgentHandle): Promise<void> => void (await agent.recover()),
    },
    {
      how: 'a stop',
      limits: {},
      cut: async (agent: AgentHandle): Promise<void> => {
        await agent.stop();
        await agent.result();
      },
    },
    { how: 'its time limit', limits: { wallMs: 4_000 }, cut: (): Promise<void> => Promise.resolve() },
  ];
  test.each(cutOff)('takes back what a step had done that was cut off by $how', async ({ limits, cut }) => {
    const agent = engine.client.agent(uniqueId('files'));
    const replies = [run('echo one > a.txt'), run('echo two > a.txt; touch began; sleep 999'), look];
    await agent.start({ mode: 'conversation', ...settings(replies), yield: LONG, limits });
    const answered = agent.send('write').catch(() => null);
    await until(() => existsSync(at('began')));
    await cut(agent);
    await answered;
    expect((await agent.workspace.rewind(1, { what: 'files' })).files).not.toBeNull();
    expect([text('a.txt'), existsSync(at('began'))]).toEqual(['one\n', false]);
    await agent.stop().catch(() => undefined);
  });

  test('takes back what a step of a task had done that was cut off before its next message', async () => {
    const agent = engine.client.agent(uniqueId('files'));
    const steps = [run('echo one > a.txt'), run('echo two > a.txt; touch began; sleep 999')];
    const replies = [...steps, run('echo more > b.txt'), { text: 'done' }];
    await agent.start({ task: 'write', ...settings(replies), yield: LONG, limits: { wallMs: 4_000 } });
    await until(() => existsSync(at('began')));
    await agent.send('more').catch(() => null);
    await agent.result().catch(() => null);
    await agent.workspace.rewind(1, { what: 'files' });
    expect([text('a.txt'), existsSync(at('began'))]).toEqual(['one\n', false]);
  });

  test('of an agent that has ended brings back its files, more than once', async () => {
    const agent = engine.client.agent(uniqueId('files'));
    await agent.start({ task: 'write', ...settings(twoSteps) });
    await agent.result();
    expect(await agent.workspace.rewind(0, { what: 'files' })).toMatchObject({ step: null });
    expect(existsSync(at('a.txt'))).toBe(false);
    await agent.workspace.rewind(1, { what: 'files' });
    expect(text('a.txt')).toBe('one\n');
    await expect(agent.workspace.rewind(1, { what: 'both' })).rejects.toMatchObject({ code: 'agent_closed' });
  });

  test('of an agent that was terminated brings back its files', async () => {
    const agent = await conversation(twoSteps);
    await agent.send('write');
    await engine.client.temporal.workflow.getHandle(agent.workflowId).terminate();
    expect(await agent.workspace.rewind(1, { what: 'files' })).toMatchObject({ step: null });
    expect(text('a.txt')).toBe('one\n');
  });

  test('of an agent that has ended is carried out once, however often it is sent', async () => {
    const agent = engine.client.agent(uniqueId('files'));
    await agent.start({ task: 'write', ...settings(twoSteps) });
    await agent.result();
    const look = await agent.workspace.rewind(0, { what: 'files', dryRun: true }, 'same');
    expect(look.files?.changes.counts).toMatchObject({ deleted: 2 });
    const rewound = await agent.workspace.rewind(0, { what: 'files' }, 'same');
    await agent.workspace.rewind(1, { what: 'files' }, 'another');
    expect(await agent.workspace.rewind(0, { what: 'files' }, 'same')).toEqual(rewound);
    expect(text('a.txt')).toBe('one\n');
  });
});

describe('a difference', () => {
  test('is of a step, of a turn or of all', async () => {
    const agent = await conversation([
      run('echo one > a.txt'),
      run('echo two >> a.txt'),
      { text: 'first' },
      run('echo b > b.txt'),
      { text: 'second' },
    ]);
    await agent.send('write');
    await agent.send('more');
    const paths = async (asked: object): Promise<string[]> =>
      (await agent.workspace.diff({ lines: false, ...asked })).changes.paths.map(
        ({ path, insertions }) => `${path} +${insertions}`,
      );
    expect(await paths({ step: 2 })).toEqual(['a.txt +1']);
    expect(await paths({ turn: 2 })).toEqual(['b.txt +1']);
    expect(await paths({ from: 1 })).toEqual(['a.txt +1', 'b.txt +1']);
    expect(await paths({})).toEqual(['a.txt +2', 'b.txt +1']);
    expect((await agent.workspace.diff({ step: 2 })).text).toMatch(/^ one\n\+two$/m);
    await expect(agent.workspace.diff({ step: 3 })).rejects.toMatchObject({ code: 'no_checkpoint' });
    await agent.stop();
  });
});
