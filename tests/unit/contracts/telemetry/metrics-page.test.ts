// The table of docs/metrics.md is made of the metrics: `UPDATE_DOCS=1 npx jest tests/unit/contracts/telemetry/metrics-page`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS, type MetricFacts } from '../../../../contracts/telemetry/metrics';

const PAGE = join(__dirname, '..', '..', '..', '..', 'docs', 'metrics.md');
const TABLE = /(?<=\n)\| metric .*?\n(?=\n)/s;
const ALL: [string, MetricFacts][] = Object.entries(METRICS);

const row = ([name, { kind, labels, from, help }]: [string, MetricFacts]): string => {
  const named = labels.map((label) => `\`${label}\``).join(', ');
  return `| \`${name}${kind === 'counter' ? '_total' : ''}\` | ${kind} | ${named} | ${from} | ${help} |`;
};
const made = ['| metric | type | labels | from | what |', '| - | - | - | - | - |', ...ALL.map(row), ''].join(
  '\n',
);
const bare = (table = ''): string => table.replaceAll(/-+/g, '-').replaceAll(/ +/g, ' ');

test('docs/metrics.md has each metric with its type, labels, process and meaning, and no other', () => {
  const page = readFileSync(PAGE, 'utf8');
  if (process.env.UPDATE_DOCS) writeFileSync(PAGE, page.replace(TABLE, made));
  expect(bare(TABLE.exec(readFileSync(PAGE, 'utf8'))?.[0])).toBe(bare(made));
});

test('names end with their base unit, and only the exporter adds _total', () => {
  for (const [name, { kind }] of ALL) {
    expect(name).not.toMatch(/_total$|millisecond|_ms$|_mb$/);
    if (kind === 'histogram') expect(name).toMatch(/_(seconds|dollars|steps)$/);
  }
});

test('no label can have as many values as there are agents, sessions or workflows', () => {
  const labels = new Set(ALL.flatMap(([, facts]) => facts.labels));
  for (const forbidden of ['agent', 'session', 'workflow', 'workflowId', 'runId', 'user', 'path', 'command'])
    expect(labels).not.toContain(forbidden);
});

test('each histogram has bounds of its own, in order', () => {
  for (const [, { kind, buckets }] of ALL) {
    expect(buckets !== undefined).toBe(kind === 'histogram');
    expect(buckets).toEqual(buckets?.toSorted((a, b) => a - b));
  }
});
