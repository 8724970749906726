// Rewinds that are asked for again: what is reported as the state before is what was on disk, and a repetition of the same
// request is distinguished from an equal one.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RewoundFiles } from '../../../contracts/workspaces/checkpoints';
import { AgentsWithFiles, run } from './agents-with-files';
import { TestWorkspace } from './workspace';

const NOTHING = { added: 0, modified: 0, deleted: 0 };

describe('of a workspace, a rewind', () => {
  let work: TestWorkspace;
  beforeEach(() => {
    work = new TestWorkspace();
  });
  afterEach(() => work.end());

  /** Two states, and a rewind from the second to the first. */
  async function rewound(key?: string): Promise<{ one: string; two: string; back: RewoundFiles }> {
    work.write('a.txt', 'one');
    const { hash: one } = await work.checkpoint();
    work.write('b.txt', 'two');
    const { hash: two } = await work.checkpoint();
    return { one, two, back: await work.rewind(one, { key, expected: two }) };
  }

  test('that equals the one before it never tells a state as the one before that was not there', async () => {
    const { one, two } = await rewound('first');
    const again = await work.rewind(one, { key: 'second', expected: two });
    expect(again).toMatchObject({ hash: one, before: one, changes: { counts: NOTHING } });
    expect(await work.rewind(one, { expected: two })).toMatchObject({ before: one });
  });

  test('that is repeated under its key gives the same answer, and does nothing', async () => {
    const { one, two, back } = await rewound('same');
    expect(back).toMatchObject({ before: two, changes: { counts: { deleted: 1 } } });
    expect(await work.rewind(one, { key: 'same', expected: two })).toEqual(back);
    expect(await work.rewind(one, { key: 'same', expected: two })).toEqual(back);
  });

  test('that finds its own state with a change of somebody else in it says what it changes now', async () => {
    const { one, two } = await rewound('same');
    work.write('theirs.txt', 'of a person');
    const { hash: theirs } = await work.checkpoint('b');
    const again = await work.rewind(one, { key: 'same', expected: two, force: true });
    expect(again).toMatchObject({ before: theirs, changes: { counts: { deleted: 1 } } });
    expect(again.changes.paths.map(({ path }) => path)).toEqual(['theirs.txt']);
    expect(existsSync(join(work.cwd, 'theirs.txt'))).toBe(false);
  });
});

describe('of an agent, a rewind', () => {
  const agents = new AgentsWithFiles();
  const { at, engine } = agents;
  beforeAll(() => engine.start(), 60_000);
  afterAll(async () => {
    expect(await agents.close()).toEqual([]);
  }, 60_000);
  beforeEach(() => agents.begin());
  afterEach(() => agents.end());

  test('after a forced one to the same step changes nothing, and no step brings back files that were gone then', async () => {
    const steps = [run('echo a > a'), run('echo b > b'), { text: 'written' }];
    const agent = await agents.conversation(steps);
    await agent.send('write');
    const files = { what: 'files' } as const;
    await agent.workspace.rewind(1, files);
    writeFileSync(at('theirs'), 'of a person');
    const forced = await agent.workspace.rewind(1, { ...files, force: true });
    expect(forced.files?.changes.counts).toEqual({ ...NOTHING, deleted: 1 });
    const again = await agent.workspace.rewind(1, files);
    expect(again.files).toMatchObject({ before: again.files?.hash, changes: { counts: NOTHING } });
    await agent.workspace.rewind(forced.step ?? 0, files);
    expect(readdirSync(agents.folder)).toEqual(['a']);
    // What the person had written is where the step before the forced one leads.
    await agent.workspace.rewind((forced.step ?? 0) - 1, files);
    expect(readdirSync(agents.folder)).toEqual(['a', 'theirs']);
    await agent.stop();
  });
});
