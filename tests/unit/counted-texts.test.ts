// What people read says "1 step", not "1 steps".
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { counted } from '../../contracts/text/counted';
import { packageRoot } from '../../system/package-root';

const THINGS = ['agent', 'call', 'checkpoint', 'file', 'line', 'message', 'session', 'step', 'tool', 'turn'];
/** A number in a template, or in JSX, before a plural. */
const UNCOUNTED = new RegExp(`\\{[^{}]+\\} (?:more )?(?:${THINGS.join('|')})s\\b.*`, 'g');
/** Always more than one. */
const MANY = [
  '} lines`',
  '} lines\n',
  '} lines: ${lost}',
  '} files\n',
  '} files`',
  '} messages before this one',
];

test('a count before a thing says "1 thing" and "2 things"', () => {
  expect([counted(1, 'step'), counted(2, 'step'), counted(0, 'reply', 'replies')]).toEqual([
    '1 step',
    '2 steps',
    '0 replies',
  ]);
});

test('no text for people puts a count before a plural by itself', () => {
  const sources = [
    'cli/*.ts',
    'console/*.ts',
    'console/*.tsx',
    'contracts/workspaces/*.ts',
    'workflows/*.ts',
  ];
  const files = execFileSync('git', ['ls-files', ...sources], { cwd: packageRoot(), encoding: 'utf8' });
  const found = files
    .trim()
    .split('\n')
    .flatMap((path) =>
      (readFileSync(join(packageRoot(), path), 'utf8').match(UNCOUNTED) ?? [])
        .map((text) => `${text}\n`)
        .filter((text) => !MANY.some((many) => text.includes(many)))
        .map((text) => `${path}: ${text.trim()}`),
    );
  expect(files.split('\n').length).toBeGreaterThan(100);
  expect(found).toEqual([]);
});
