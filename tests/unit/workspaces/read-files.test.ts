// A file that is replaced between the look at it and its opening, as hostile code tries to: real files, at that moment.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Inside } from '../../../workspaces/files/inside';
import { Breather } from '../../../system/processes/breather';
import { LookTime, readFiles, type ReadFiles } from '../../../workspaces/record/read-files';
import { StatIndex } from '../../../workspaces/record/stat-index';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'holdfast-read-'));
  mkdirSync(join(base, 'work/dir'), { recursive: true });
  mkdirSync(join(base, 'outside'));
  writeFileSync(join(base, 'work/dir/a.txt'), 'public');
  writeFileSync(join(base, 'outside/a.txt'), 'the secret');
});
afterEach(() => rmSync(base, { recursive: true }));

/** Does something to the workspace just after each look at a file. */
class Raced extends Inside {
  constructor(
    root: string,
    private readonly then: () => void,
  ) {
    super(root);
  }

  override stats(path: string): ReturnType<Inside['stats']> {
    const stats = super.stats(path);
    this.then();
    return stats;
  }
}

async function read(then: () => void): Promise<{ found: ReadFiles; begun: number[] }> {
  using inside = new Raced(join(base, 'work'), then);
  const begun: number[] = [];
  const found = await readFiles(['dir/a.txt'], {
    inside,
    index: () => new StatIndex(''),
    fresh: new Map(),
    isReadable: () => true,
    time: new LookTime(),
    maxFileBytes: 1_000,
    writer: (bytes) => {
      begun.push(bytes);
      throw Object.assign(new Error('a content was read'), { code: 'ELOOP' });
    },
    breather: new Breather(),
  });
  return { found, begun };
}

const at = (path: string): string => join(base, path);

test.each<[string, () => void]>([
  [
    'the file becomes a link',
    () => {
      rmSync(at('work/dir/a.txt'), { force: true });
      symlinkSync(at('outside/a.txt'), at('work/dir/a.txt'));
    },
  ],
  [
    'the file becomes a pipe',
    () => {
      rmSync(at('work/dir/a.txt'));
      execFileSync('mkfifo', [at('work/dir/a.txt')]);
    },
  ],
  ['the file is removed', () => rmSync(at('work/dir/a.txt'))],
])('nothing is read if %s after the look at it', async (_what, then) => {
  const { found, begun } = await read(then);
  expect(begun).toEqual([]);
  expect([...found.entries]).toEqual([]);
});

test('the file that was looked at is read if its folder becomes a link after the look', async () => {
  const { begun } = await read(() => {
    renameSync(at('work/dir'), at('work/moved'));
    symlinkSync(at('outside'), at('work/dir'));
  });
  // Of `public`: the folder is known by its descriptor.
  expect(begun).toEqual(['public'.length]);
});
