// docs/security.md names the test that shows each of its claims.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '..', '..');
const sources = readdirSync(join(root, 'tests'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.endsWith('security-table.test.ts'))
  .map((name) => readFileSync(join(root, 'tests', name), 'utf8').replaceAll("\\'", "'"));

const rows = readFileSync(join(root, 'docs', 'security.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| (?!Threat|---)/.test(line))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));

test('each row says what the threat is, what stops it, which test shows it and what remains', () => {
  expect(rows.length).toBeGreaterThan(30);
  for (const row of rows) expect([row[1], row.length]).toEqual([row[1], 6]);
});

/** Titles are in quotes or backquotes; an ellipsis replaces variable parts. */
const quoted = (cell: string): string[] =>
  [...cell.matchAll(/[`"]([^`"]{8,})[`"]/g)]
    .flatMap(([, title = '']) => title.split(/…|›|%s|\\/))
    .map((part) => part.replace(/^[ :,]+|[ :,]+$/g, ''))
    .filter((part) => part.length >= 4 && !part.endsWith('.ts'));

test.each(rows.map((row) => [row[1] ?? '', row[3] ?? '']))(
  'what docs/security.md says of "%s" is shown by existing tests, or is said to be shown by none',
  (_threat, tests) => {
    const parts = quoted(tests);
    if (parts.length === 0) expect(tests).toMatch(/^(none|—|tests? of )/);
    for (const part of parts)
      expect([part, sources.some((source) => source.includes(part))]).toEqual([part, true]);
  },
);
