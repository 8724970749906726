// One agent as its events show it: recorded messages by index, and the reply that is being written.
import { batch, useSignal, type Signal } from '@preact/signals';
import { createContext } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { AgentOverview, Message } from '../../contracts/agents/agent';
import type { LiveToken } from '../../contracts/models/live-tokens';
import { callApi, isOutOfReach, pathOf, problemOf, type ProblemText } from './call-api';
import { followEvents, type Handlers } from './event-streams';
import { MessageLog } from './message-log';

/** Stands for what was written while it was not followed, as the gateway writes it. */
const GAP = '\u2026';

/** The id of the agent whose conversation is shown. */
export const ShownAgent = createContext('');

export interface AgentStream {
  overview: Signal<AgentOverview | null>;
  messages: Signal<readonly Message[]>;
  live: Signal<string>;
  /** Null while it is open. */
  ended: Signal<string | null>;
  problem: Signal<ProblemText | null>;
  /** There is no such agent, or it is not this person's to see. */
  isMissing: Signal<boolean>;
}

export function useAgentStream(id: string): AgentStream {
  const log = useMemo(() => new MessageLog(), [id]);
  const stream: AgentStream = {
    overview: useSignal(null),
    messages: log.shown,
    live: useSignal(''),
    ended: useSignal(null),
    problem: useSignal(null),
    isMissing: useSignal(false),
  };
  useEffect(() => {
    const following = new AgentFollowing(id, stream, log);
    return () => following.end();
  }, [id]);
  return stream;
}

/** Reads an agent and its events, and writes them into the signals. */
class AgentFollowing {
  private readonly over = new AbortController();
  private run: string | undefined;
  private stop: () => void;

  constructor(
    private readonly id: string,
    private readonly stream: AgentStream,
    private readonly log: MessageLog,
  ) {
    this.stop = this.follow();
    void this.read();
  }

  end(): void {
    this.over.abort();
    this.stop();
  }

  private async read(): Promise<void> {
    const { overview, problem, isMissing } = this.stream;
    const { signal } = this.over;
    try {
      const state: AgentOverview = await callApi('GET', pathOf('agents', this.id), undefined, { signal });
      overview.value ??= state;
    } catch (err) {
      const hasNoEvents = isOutOfReach(err);
      if (signal.aborted || (overview.value && !hasNoEvents)) return;
      problem.value = problemOf(err);
      isMissing.value = hasNoEvents;
      if (hasNoEvents) this.stop();
    }
  }

  private follow(): () => void {
    const { live } = this.stream;
    return followEvents(`${pathOf('agents', this.id)}/events`, {
      last: 'ended',
      // A stream cannot say why there is none: this does.
      check: () => this.read(),
      handlers: {
        ...handlersFor(this.stream, this.log),
        state: (state: AgentOverview) => this.onState(state),
      },
      whileSeen: true,
      // What was written meanwhile is not sent again before it is recorded.
      onReopen: () => {
        if (live.value !== '') live.value += GAP;
      },
    });
  }

  private onState(state: AgentOverview): void {
    const isOfNextRun = this.run !== undefined && this.run !== state.runId;
    this.run = state.runId;
    this.stream.overview.value = state;
    this.log.expected = state.messages + (state.turn?.messages ?? 0);
    this.stream.problem.value = null;
    if (!isOfNextRun) return;
    // All places are in the conversation of a run: this one's begins with what the model still sees.
    this.stop();
    this.stop = this.follow();
  }
}

const handlersFor = ({ live, ended }: AgentStream, log: MessageLog): Handlers => ({
  // In order and once, over any number of connections; from 0 again in another run.
  message: ({ index, message }: { index: number; message: Message }) =>
    batch(() => {
      log.add(index, message);
      // What was written and what it has become are shown in one moment.
      if (message.role !== 'assistant' || live.value === '') return;
      log.draw();
      live.value = '';
    }),
  token: (token: LiveToken) => {
    live.value = token.kind === 'text' ? live.value + token.text : '';
  },
  turn_ended: () => (live.value = ''),
  // A call that was terminated may not report its own end before this one.
  ended: ({ how }: { how: string }) =>
    batch(() => {
      log.draw();
      live.value = '';
      ended.value = how;
    }),
});
