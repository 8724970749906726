// The agents: filter, search, and a list of any length, sub-agents below their parents.
import { useSignal, type Signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { AgentEntry } from '../api/agent-entry';
import { callApi, type Listed, type ProblemText } from '../api/call-api';
import { Reading } from '../api/load';
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
  { name: 'Failed', query: { waitsFor: 'retry', ended: 'true' } },
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
  const branches = useMemo(() => inTree(items ?? []), [items]);
  return (
    <>
      <AgentsTitle count={items?.length ?? null} hasMore={next !== null} />
      <AgentFilters {...{ filter, text }} />
      <ProblemNote problem={problem} />
      {items?.length === 0 && (
        <NoAgents isUnfiltered={filter.value === 'Open' && text.value === ''} isPartial={next !== null} />
      )}
      {branches.length > 0 && (
        <VirtualList
          items={branches}
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

/** @param count of the agents that are shown; null: not read yet */
const AgentsTitle = ({ count, hasMore }: { count: number | null; hasMore: boolean }): VNode => (
  <div class="title">
    <h1>Agents</h1>
    {count !== null && (
      <span class="quiet">
        {count}
        {hasMore && ' and more'}
      </span>
    )}
    <span class="space" />
    {mayAct() && (
      <a class="button main" href={linkTo('start')}>
        Start an agent
      </a>
    )}
  </div>
);

const AgentFilters = ({ filter, text }: { filter: Signal<string>; text: Signal<string> }): VNode => (
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
);

/** @param isPartial whether only the latest agents were looked through */
const NoAgents = ({ isUnfiltered, isPartial }: { isUnfiltered: boolean; isPartial: boolean }): VNode => (
  <Empty>
    <h2>No agents here</h2>
    <p>
      {isUnfiltered ? (
        <>
          <a href={linkTo('start')}>Start one</a>, or run <code>holdfast run "a task"</code>.
        </>
      ) : (
        `None ${isPartial ? 'of the latest ones ' : ''}matches the filter and the search.`
      )}
    </p>
  </Empty>
);

const row = (branch: Branch): VNode => <AgentRow {...branch} />;

interface Found {
  items: AgentEntry[] | null;
  problem: ProblemText | null;
  next: string | null;
  more: () => void;
}

const SETTLE_MS = 300;

/** Read again when the open agents change, as many pages as are shown; what is typed is sought when it settles. */
function useAgents(filter: string, text: string): Found {
  const found = useSignal<Listed<AgentEntry> | null>(null);
  const problem = useSignal<ProblemText | null>(null);
  const reading = useRef<Reading<Listed<AgentEntry>>>(undefined);
  const sought = JSON.stringify([filter, text]);
  const shown = useSignal({ sought, pages: 1 });
  const pages = shown.value.sought === sought ? shown.value.pages : 1;
  useEffect(() => {
    const query = { ...FILTERS.find(({ name }) => name === filter)?.query, ...(text && { text }) };
    const begin = (): void => {
      reading.current = new Reading((signal) => readPages(query, pages, signal), {
        answer: (answer) => {
          found.value = answer;
          problem.value = null;
        },
        problem: (found) => (problem.value = found),
      });
    };
    const timer = setTimeout(begin, found.value === null ? 0 : SETTLE_MS);
    return () => {
      clearTimeout(timer);
      reading.current?.end();
    };
  }, [filter, text, pages]);
  const published = openAgents.value;
  useEffect(() => reading.current?.readAnew(), [published]);
  return {
    ...{ items: found.value?.items ?? null, problem: problem.value, next: found.value?.next ?? null },
    more: () => (shown.value = { sought, pages: pages + 1 }),
  };
}

/** Pages on which nothing is found; the server looks through one at a time. */
const MOST_EMPTY = 10;

/** As many pages as are wanted, not counting empty ones: `next` says whether there are more. */
async function readPages(
  query: Record<string, string>,
  pages: number,
  signal: AbortSignal,
): Promise<Listed<AgentEntry>> {
  const items: AgentEntry[] = [];
  let next: string | null = null;
  let left = pages;
  let empty = 0;
  do {
    const params = new URLSearchParams({ ...query, limit: String(PAGE), ...(next && { cursor: next }) });
    const path = `/v1/agents?${params.toString()}`;
    const page: Listed<AgentEntry> = await callApi('GET', path, undefined, { signal });
    items.push(...page.items);
    next = page.next;
    if (page.items.length > 0) left -= 1;
    else empty += 1;
  } while (left > 0 && empty < MOST_EMPTY * pages && next !== null);
  return { items, next };
}
