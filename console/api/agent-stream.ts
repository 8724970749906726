// One agent as its events tell it: recorded messages by index, and the reply that is being written.
import { batch, useSignal, type Signal } from '@preact/signals';
import { createContext } from 'preact';
import { useEffect } from 'preact/hooks';
import type { AgentOverview, Message } from '../../contracts/agents/agent';
import type { LiveToken } from '../../contracts/models/live-tokens';
import { callApi, isOutOfReach, pathOf, problemOf, type ProblemText } from './call-api';
import { followEvents } from './event-streams';

/** Stands for what was written while nobody looked, as the gateway writes it. */
const GAP = '\u2026';

/** The id of the agent whose conversation is shown. */
export const ShownAgent = createContext('');

export interface AgentStream {
  overview: Signal<AgentOverview | null>;
  messages: Signal<Message[]>;
  live: Signal<string>;
  /** Null while it is open. */
  ended: Signal<string | null>;
  problem: Signal<ProblemText | null>;
  /** There is no such agent, or it is not this person's to see. */
  isMissing: Signal<boolean>;
}

export function useAgentStream(id: string): AgentStream {
  const overview = useSignal<AgentOverview | null>(null);
  const messages = useSignal<Message[]>([]);
  const live = useSignal('');
  const ended = useSignal<string | null>(null);
  const problem = useSignal<ProblemText | null>(null);
  const isMissing = useSignal(false);
  useEffect(() => {
    const over = new AbortController();
    let run: string | undefined;
    const read = (): Promise<void> =>
      callApi<AgentOverview>('GET', pathOf('agents', id), undefined, { signal: over.signal }).then(
        (state) => void (overview.value ??= state),
        (err: unknown) => {
          const hasNoEvents = isOutOfReach(err);
          if (over.signal.aborted || (overview.value && !hasNoEvents)) return;
          problem.value = problemOf(err);
          isMissing.value = hasNoEvents;
          if (hasNoEvents) stop();
        },
      );
    const handlers = {
      state: (state: AgentOverview) => {
        const isOfNextRun = run !== undefined && run !== state.runId;
        run = state.runId;
        overview.value = state;
        problem.value = null;
        if (!isOfNextRun) return;
        // All places are in the conversation of a run: this one's begins with what the model still sees.
        stop();
        stop = follow();
      },
      // In order and once, over any number of connections; from 0 again in another run.
      message: ({ index, message }: { index: number; message: Message }) =>
        batch(() => {
          messages.value = [...messages.value.slice(0, index), message];
          if (message.role === 'assistant') live.value = '';
        }),
      token: (token: LiveToken) => {
        live.value = token.kind === 'text' ? live.value + token.text : '';
      },
      turn_ended: () => (live.value = ''),
      // A call that was terminated may not tell its own end before this one.
      ended: ({ how }: { how: string }) =>
        batch(() => {
          live.value = '';
          ended.value = how;
        }),
    };
    // What was written meanwhile is not told again before it is recorded.
    const onReopen = (): void => {
      if (live.value !== '') live.value += GAP;
    };
    const path = `${pathOf('agents', id)}/events`;
    // A stream cannot say why there is none: `check` does.
    const follow = (): (() => void) =>
      followEvents(path, { last: 'ended', check: read, handlers, whileSeen: true, onReopen });
    let stop = follow();
    void read();
    return () => {
      over.abort();
      stop();
    };
  }, [id]);
  return { overview, messages, live, ended, problem, isMissing };
}
