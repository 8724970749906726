// A list of agents with each below the one that has started it. Pure.
import type { AgentEntry } from '../api/agent-entry';

export interface Branch {
  entry: AgentEntry;
  /** 0 for one whose parent is not in the list. */
  depth: number;
}

/** The topmost in the order of the list; those below another in the order in which they were started. */
export function inTree(entries: readonly AgentEntry[]): Branch[] {
  const listed = new Set(entries.map(({ id }) => id));
  const below = new Map<string | null, AgentEntry[]>();
  for (const entry of entries) {
    const above =
      entry.parent !== null && entry.parent !== entry.id && listed.has(entry.parent) ? entry.parent : null;
    const known = below.get(above);
    if (known) known.push(entry);
    else below.set(above, [entry]);
  }
  const branches: Branch[] = [];
  const waiting = (below.get(null) ?? []).map((entry): Branch => ({ entry, depth: 0 })).reverse();
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { entry, depth } = next;
    branches.push(next);
    const own = below.get(entry.id) ?? [];
    below.delete(entry.id);
    own.sort((a, b) => b.startedAt.localeCompare(a.startedAt));
    waiting.push(...own.map((one): Branch => ({ entry: one, depth: depth + 1 })));
  }
  return branches;
}
