// The agents: filter, search, and a list of any length, sub-agents below their parents.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { AgentEntry } from '../api/agent-entry';
import { callApi, problemOf, type Listed, type ProblemText } from '../api/call-api';
import { openAgents } from '../api/overview';
import { linkTo } from '../api/place';
import { mayAct } from '../api/signed-in';
import { AgentRow } from '../parts/agent-row';
import { inTree, type Branch } from '../parts/in-tree';
import { Empty, ProblemNote } from '../parts/notes';
import { VirtualList } from '../parts/virtual-list';

const ROW_PX = 56;
const PAGE = 1_000;
const FILTERS = [
  { name: 'Open', query: {} },
  { name: 'Working', query: { state: 'working' } },
  { name: 'Idle', query: { state: 'idle' } },
  { name: 'Waiting for approval', query: { waitsFor: 'approval' } },
  { name: 'Waiting for input', query: { waitsFor: 'input' } },
  { name: 'Ended', query: { state: 'ended' } },
  { name: 'All', query: { ended: 'true' } },
] as const;

export function AgentsPage(): VNode {
  const filter = useSignal<string>('Open');
  const text = useSignal('');
  const { items, problem, next, more } = useAgents(filter.value, text.value.trim());
  return (
    <>
      <div class="title">
        <h1>Agents</h1>
        {items && (
          <span class="quiet">
            {items.length}
            {next && ' and more'}
          </span>
        )}
        <span class="space" />
        {mayAct() && (
          <a class="button main" href={linkTo('start')}>
            Start an agent
          </a>
        )}
      </div>
      <div class="filters" role="search">
        <label>
          Show{' '}
          <select value={filter} onChange={(event) => (filter.value = event.currentTarget.value)}>
            {FILTERS.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <input
          class="grow"
          type="search"
          aria-label="Search ids and first messages"
          placeholder="Search ids and first messages"
          value={text}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
      </div>
      <ProblemNote problem={problem} />
      {items?.length === 0 && (
        <Empty>
          <h2>No agents here</h2>
          <p>
            {filter.value === 'Open' && text.value === '' ? (
              <>
                <a href={linkTo('start')}>Start one</a>, or run <code>holdfast run "a task"</code>.
              </>
            ) : (
              'None matches the filter and the search.'
            )}
          </p>
        </Empty>
      )}
      {items && items.length > 0 && (
        <VirtualList
          items={inTree(items)}
          rowPx={ROW_PX}
          label="Agents"
          keyOf={({ entry: { id, runId } }) => id + runId}
          row={row}
        />
      )}
      {next && (
        <button type="button" onClick={more}>
          Show more
        </button>
      )}
    </>
  );
}

const row = (branch: Branch): VNode => <AgentRow {...branch} />;

interface Found {
  items: AgentEntry[] | null;
  problem: ProblemText | null;
  next: string | null;
  more: () => void;
}

const SETTLE_MS = 300;

/** Read again when the open agents change; what is typed is sought when it settles. */
function useAgents(filter: string, text: string): Found {
  const items = useSignal<AgentEntry[] | null>(null);
  const problem = useSignal<ProblemText | null>(null);
  const next = useSignal<string | null>(null);
  const query = FILTERS.find(({ name }) => name === filter)?.query ?? {};
  const read = async (signal?: AbortSignal, cursor?: string): Promise<void> => {
    const params = new URLSearchParams({ ...query, limit: String(PAGE), ...(text && { text }) });
    if (cursor) params.set('cursor', cursor);
    try {
      const page = await callApi<Listed<AgentEntry>>(
        'GET',
        `/v1/agents?${params.toString()}`,
        undefined,
        signal && { signal },
      );
      items.value = cursor ? [...(items.value ?? []), ...page.items] : page.items;
      next.value = page.next;
      problem.value = null;
    } catch (err) {
      if (!signal?.aborted) problem.value = problemOf(err);
    }
  };
  const told = openAgents.value;
  useEffect(() => {
    const over = new AbortController();
    const timer = setTimeout(() => void read(over.signal), items.value === null ? 0 : SETTLE_MS);
    return () => {
      clearTimeout(timer);
      over.abort();
    };
  }, [filter, text, told]);
  const cursor = next.value;
  return {
    ...{ items: items.value, problem: problem.value, next: cursor },
    more: () => void (cursor && read(undefined, cursor)),
  };
}
