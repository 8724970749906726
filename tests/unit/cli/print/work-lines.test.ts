import { table } from '../../../../cli/print/work-lines';
import type { Work } from '../../../../cli/print/work';

test('`ps` shows more workflows than a function may have arguments, in columns', () => {
  const since = new Date().toISOString();
  const one = { type: 'turn', since, end: null, doing: 'idle', listed: true, waits: null, killed: null };
  const all = Array.from({ length: 200_000 }, (_, n) => ({ ...one, workflowId: `exec/a/local/${n}` }));
  const lines = table(all as Work[]).split('\n');
  expect(lines).toHaveLength(200_001);
  expect(lines[0]).toMatch(/^exec\/a\/local\/0 {7} .* idle$/);
});
