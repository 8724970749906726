// What the agents in view are doing. Each is asked itself, so only those are, few at a time, and while they can be seen.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { AgentOverview } from '../../contracts/agents/agent';
import { callApi, isRefused, pathOf } from './call-api';
import { SILENT_MS } from './event-streams';

const AT_ONCE = 2;
const EVERY_MS = 5_000;

type Work = () => Promise<void>;
const waiting = new Set<Work>();
let underWay = 0;

function begin(): void {
  for (const work of waiting) {
    if (underWay >= AT_ONCE) return;
    waiting.delete(work);
    underWay += 1;
    void work().finally(() => {
      underWay -= 1;
      begin();
    });
  }
}

/** Null before the answer, and without one. Asked again when `version` changes, while it works, and without an answer. */
export function useSeenState(id: string, version: string | null): AgentOverview | null {
  const state = useSignal<AgentOverview | null>(null);
  useEffect(() => {
    if (version === null) return undefined;
    const over = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = (): void => {
      waiting.add(read);
      begin();
    };
    const again = (): void => (document.hidden ? void (timer = setTimeout(again, EVERY_MS)) : ask());
    const read = (): Promise<void> => {
      // One that is never answered must not keep others from being asked.
      const signal = AbortSignal.any([over.signal, AbortSignal.timeout(SILENT_MS)]);
      return callApi<AgentOverview>('GET', pathOf('agents', id), undefined, { signal }).then(
        (answer) => {
          if (over.signal.aborted) return;
          state.value = answer;
          if (answer.status === 'working') timer = setTimeout(again, EVERY_MS);
        },
        // The list says what is known without the agent.
        (err: unknown) => {
          if (!over.signal.aborted && !isRefused(err)) timer = setTimeout(again, EVERY_MS);
        },
      );
    };
    ask();
    return () => {
      over.abort();
      waiting.delete(read);
      clearTimeout(timer);
    };
  }, [id, version]);
  return state.value;
}
