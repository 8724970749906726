import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { walkFiles } from '../../../tools/files/grep/walk-files';

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
