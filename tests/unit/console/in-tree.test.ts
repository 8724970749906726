// Sub-agents below their parents in a list of agents.
import type { AgentEntry } from '../../../console/api/agent-entry';
import { inTree } from '../../../console/parts/in-tree';

const agent = (id: string, parent: string | null, second: number): AgentEntry => ({
  ...{ id, workflowId: `agent/${id}`, runId: id, state: 'idle', waitsFor: 'message', message: null },
  ...{ startedAt: `2026-01-01T00:00:0${second}.000Z`, parent, failure: null, end: null },
});

test('each is listed once below its parent, in the order of their start; one without its parent stands on top', () => {
  const listed = [
    agent('orphan', 'not-listed', 9),
    agent('b-2', 'b', 8),
    agent('b-1-1', 'b-1', 7),
    agent('b-1', 'b', 6),
    agent('b', null, 5),
    agent('a', null, 1),
    agent('itself', 'itself', 0),
  ];
  const shown = inTree(listed).map(({ entry, depth }) => `${'  '.repeat(depth)}${entry.id}`);
  expect(shown).toEqual(['orphan', 'b', '  b-1', '    b-1-1', '  b-2', 'a', 'itself']);
});
