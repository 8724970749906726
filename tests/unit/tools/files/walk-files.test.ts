import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { walkFiles } from '../../../../tools/files/grep/walk-files';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-walk-'));
  // The top of the repository, up to which rules count.
  mkdirSync(join(directory, '.git'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('the process goes on while many rules are applied to many files, and a stopped turn ends the walk', async () => {
  const rules = Array.from({ length: 10_000 }, (_, n) => `rule${n}\n`);
  writeFileSync(join(directory, '.gitignore'), rules.join(''));
  for (let n = 0; n < 300; n++) writeFileSync(join(directory, `n${n}`), '');
  const stop = new AbortController();
  const files = walkFiles(directory, stop.signal);
  await files.next();
  setImmediate(() => stop.abort(new Error('stopped')));
  let seen = 1;
  const rest = async (): Promise<void> => {
    while (!(await files.next()).done) seen += 1;
  };
  await expect(rest()).rejects.toThrow('stopped');
  expect(seen).toBeLessThan(300);
});

test('a .gitignore that is a link, which git does not follow, or longer than 1 MiB excludes nothing', async () => {
  for (const folder of ['linked', 'long']) {
    mkdirSync(join(directory, folder));
    writeFileSync(join(directory, folder, 'a'), '');
  }
  writeFileSync(join(directory, 'rules'), 'a\n');
  symlinkSync('../rules', join(directory, 'linked', '.gitignore'));
  writeFileSync(join(directory, 'long', '.gitignore'), `a\n${'\n'.repeat(1_048_576)}`);
  const files: string[] = [];
  for await (const file of walkFiles(directory, new AbortController().signal)) files.push(file);
  expect(files).toEqual(
    ['linked/a', 'long/.gitignore', 'long/a', 'rules'].map((name) => join(directory, name)),
  );
});
