// File tools in a sandbox see nothing of the package but their own program: where its dependencies lie differs between
// package managers, and pnpm keeps each in a folder of its own.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../../system/package-root';
import type { ConfinedAnswer, ConfinedCall } from '../../../tools/confined/confined-call';
import { png } from '../../helpers/tools/images';

const NEEDED = ['package.json', 'dist/confined.js', 'dist/tools/files/grep/search-worker.js'];
const place = mkdtempSync(join(tmpdir(), 'holdfast-confined-'));
const work = join(place, 'work');

beforeAll(() => {
  for (const path of NEEDED)
    cpSync(join(packageRoot(), path), join(place, 'package', path), { recursive: true });
  mkdirSync(work);
  writeFileSync(join(work, 'a.txt'), 'one\ntwo\n');
  writeFileSync(join(work, 'a.png'), png(3, 2));
});
afterAll(() => rmSync(place, { recursive: true }));

function answer(tool: string, args: ConfinedCall['args'], askedAt?: number): ConfinedAnswer {
  const call: ConfinedCall = { tool, args, cwd: work, askedAt, wantsImages: false };
  // Without ripgrep, so that the search is our own, in its thread.
  const { stdout, stderr } = spawnSync(process.execPath, [join(place, 'package', 'dist', 'confined.js')], {
    ...{ input: JSON.stringify(call), encoding: 'utf8', cwd: '/' },
    env: { PATH: dirname(process.execPath) },
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as ConfinedAnswer;
}

const PATCH = ['*** Begin Patch', '*** Update File: a.txt', '@@', '-two', '+three', '*** End Patch'];

test.each<[string, ConfinedCall['args'], unknown]>([
  ['read_file', { file_path: 'a.txt' }, 'one\ntwo\n'],
  ['write_file', { file_path: 'b.txt', content: 'text' }, { bytes: 4 }],
  ['list_dir', { dir_path: '.', offset: 1, limit: 9, depth: 1 }, { total: 3 }],
  [
    'grep_files',
    { pattern: 'tw.', path: '.', limit: 9 },
    { matches: [expect.objectContaining({ line: 2, text: 'two' })] },
  ],
  ['view_image', { path: 'a.png' }, { width: 3, height: 2 }],
  ['apply_patch', { input: PATCH.join('\n') }, expect.stringContaining('a.txt')],
])('%s runs without the packages that Holdfast depends on', (tool, args, value) => {
  expect(answer(tool, args)).toMatchObject({ value });
});

test('a file that was changed after the approval of the call was asked for is not overwritten', () => {
  const args = { file_path: 'a.txt', content: 'by the model' };
  expect(answer('write_file', args, 1)).toMatchObject({ error: { code: 'approval_outdated' } });
});
