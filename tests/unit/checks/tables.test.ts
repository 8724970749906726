// X1, X2: findings, non-findings, and known misses.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckReport } from '../../../contracts/tools/checks';
import { RUNTIMES, type Runtime } from '../../../contracts/sessions/session';
import { CodeChecks } from '../../../checks/code-checks';
import { packageRoot } from '../../../system/package-root';
import { checkCases } from '../../helpers/tools/check-cases';

const checks = new CodeChecks();
afterAll(() => checks.close());

const rulesOf = ({ verdicts }: CheckReport): string =>
  [...new Set(verdicts.map(({ rule }) => rule))].join() || 'none';

const TABLES: [file: string, runtime: Runtime, least: number][] = [
  ['bash-found.txt', 'terminal', 150],
  ['bash-harmless.txt', 'terminal', 100],
  ['python-found.txt', 'python', 60],
  ['python-harmless.txt', 'python_script', 40],
  ['javascript-found.txt', 'nodejs', 50],
  ['javascript-harmless.txt', 'nodejs', 30],
  ['placeholders.txt', 'terminal', 30],
  ['placeholders-python.txt', 'python', 25],
  ['placeholders-javascript.txt', 'nodejs', 15],
];

describe.each(TABLES)('%s', (file, runtime, least) => {
  const cases = checkCases(file);

  test(`has at least ${least} cases`, () => expect(cases.length).toBeGreaterThanOrEqual(least));

  test.each(cases)('%s: %s', async (rule, code) => {
    expect(rulesOf(await checks.check({ runtime, code }))).toBe(rule);
  });
});

describe('misses.txt', () => {
  test.each(checkCases('misses.txt'))('%s: %s is missed', async (runtime, code) => {
    expect(RUNTIMES).toContain(runtime);
    expect((await checks.check({ runtime: runtime as Runtime, code })).verdicts).toEqual([]);
  });

  test('docs/checks.md states each of them', () => {
    const page = readFileSync(join(packageRoot(), 'docs', 'checks.md'), 'utf8');
    const missing = checkCases('misses.txt').filter(([, code]) => !page.includes(code.replaceAll('\n', '⏎')));
    expect(missing).toEqual([]);
  });
});
