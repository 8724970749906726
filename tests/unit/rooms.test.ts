// Folders stay small enough to be read at a glance, and names distinguish files.
import { execFileSync } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { packageRoot } from '../../system/package-root';

const MOST_FILES = 17;
/** One file for each command and each benchmark, named like it: lists to look up, not rooms to know. */
const LISTS = ['cli/commands', 'bench/groups'];
/**
 * Names that stand for the same thing on several sides (a contract, its schema, its workflow, its activities, its
 * command), and entry points.
 */
const SHARED = [
  ...['agent', 'approvals', 'configuration', 'file-reach', 'host', 'host-activities', 'live-tokens'],
  ...[
    'offered-tools',
    'registry-record',
    'serve',
    'remote-hosts',
    'session',
    'sub-agents',
    'tool-activities',
    'tools',
    'index',
    'main',
  ],
];

const all = execFileSync('git', ['ls-files', '*.ts', '*.tsx'], { cwd: packageRoot(), encoding: 'utf8' })
  .split('\n')
  .filter((path) => path.includes('/'));
const sources = all.filter((path) => !/^(tests|bench|examples|scripts)\//.test(path));

function grouped(paths: string[], by: (path: string) => string): [string, string[]][] {
  const groups = new Map<string, string[]>();
  for (const path of paths) groups.set(by(path), [...(groups.get(by(path)) ?? []), path]);
  return [...groups];
}

test('no folder holds more than seventeen files of source or tests, but for lists', () => {
  expect(sources.length).toBeGreaterThan(400);
  const large = grouped(all, dirname).filter(
    ([folder, files]) => files.length > MOST_FILES && !LISTS.includes(folder),
  );
  expect(large.map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([]);
});

test('two source files have the same name only if they are two sides of one thing', () => {
  // What the page draws has the name of what it is: .tsx.
  const same = grouped(sources, (path) => basename(path, '.ts')).filter(
    ([name, files]) => files.length > 1 && !SHARED.includes(name),
  );
  expect(same.map(([, files]) => files.join(', '))).toEqual([]);
});
