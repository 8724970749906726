// What the agents in view are doing. Each is asked itself, so only those are, few at a time, and while they can be seen.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { AgentOverview } from '../../contracts/agents/agent';
import { callApi, pathOf } from './call-api';

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

/** Null before the answer, and without one. Asked again when `version` changes, and while it works. */
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
    const read = (): Promise<void> =>
      callApi<AgentOverview>('GET', pathOf('agents', id), undefined, { signal: over.signal }).then(
        (answer) => {
          if (over.signal.aborted) return;
          state.value = answer;
          if (answer.status === 'working') timer = setTimeout(again, EVERY_MS);
        },
        // The list says what is known without the agent.
        () => undefined,
      );
    ask();
    return () => {
      over.abort();
      waiting.delete(read);
      clearTimeout(timer);
    };
  }, [id, version]);
  return state.value;
}
