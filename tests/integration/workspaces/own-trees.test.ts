// The folders of agents that work in one of their own, as a host makes and leaves them: whole, also under an id that was
// used before.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OwnTrees } from '../../../workspaces/own/own-trees';
import { everythingIn, TestWorkspace } from './workspace';

let work: TestWorkspace;
beforeEach(() => {
  work = new TestWorkspace();
  work.write('a.txt', 'a\n');
  work.write('dir/b.txt', 'b\n', 0o600);
});
afterEach(() => work.end());

function treesIn(data: string): OwnTrees {
  const folder = join(work.base, data, 'trees');
  return new OwnTrees({
    ...{ workspaces: work.workspaces, folder, isConfined: false },
    folderOf: (agent) => join(folder, agent),
  });
}
const made = async (trees: OwnTrees, born: string): Promise<{ folder: string; base: string }> =>
  trees.make({ agent: 'fix', born, of: work.cwd, hash: null, for: 'parent' });

describe('a folder of its own has all files', () => {
  test('under the id of an agent that has left one', async () => {
    const trees = treesIn('data');
    const { base } = await made(trees, '1');
    await trees.leave({ agent: 'fix', base, for: 'parent' });
    const { folder } = await made(trees, '2');
    expect(everythingIn(folder)).toEqual(everythingIn(work.cwd));
    const { counts } = await trees.leave({ agent: 'fix', base, for: 'parent' });
    expect(counts).toEqual({ added: 0, modified: 0, deleted: 0 });
  });

  test('where its making is repeated because its end was not recorded', async () => {
    const trees = treesIn('data');
    const { folder } = await made(trees, '1');
    const record = JSON.parse(readFileSync(`${folder}.json`, 'utf8')) as { isMade?: true };
    delete record.isMade;
    writeFileSync(`${folder}.json`, JSON.stringify(record));
    await made(trees, '1');
    expect(everythingIn(folder)).toEqual(everythingIn(work.cwd));
  });
});
