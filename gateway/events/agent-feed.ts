// Watches one agent for all who follow it: looks at the size of its history, which costs the server little, and asks its
// workflows only when that has changed.
import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentHandle } from '../../client/agents/agent-handle';
import type { AgentOverview, AgentState, Message } from '../../contracts/agents/agent';
import { runningWorkflow } from '../../client/agents/model-calls';
import { LiveEvents, type LogsHere } from './live-events';
import { knownError } from '../../system/known-error';
import type { HoldfastClient } from '../../client/holdfast-client';

/** While its turn runs, and while it does not. */
const WORKING_MS = 200;
const IDLE_MS = 1_000;
/** Of a client that was away for longer than this many runs it is not known what it has seen. */
const MOST_RUNS = 20;
/** Its sessions are asked again this often while a turn runs: what they wait for is in no other history. */
const REFRESH_MS = 1_000;

interface Look {
  fingerprint: string;
  runId: string;
  /** The turn that was looked at, too. */
  turn: string | null;
  /** Whether the agent and that turn have ended. */
  isOver: boolean;
}

type FeedPlace = LogsHere & { client: HoldfastClient };

export class AgentFeed {
  /** Undefined until the first answer. */
  state: AgentOverview | undefined;
  /** Whether nothing more will be recorded in the run of `state`, which was read after its end. */
  isOver = false;
  /** Why nothing more can be said of it, ever: the server no longer has it, or no worker can answer for it any more. */
  silence: string | undefined;
  /** Grows with each change. */
  version = 0;
  private followers = 0;
  private readonly changes = new EventEmitter().setMaxListeners(0);
  private watching: AbortController | undefined;
  private pages = new Map<number, Promise<Message[]>>();
  private readonly client: HoldfastClient;
  private readonly agent: AgentHandle;
  readonly live: LiveEvents;

  constructor(
    place: FeedPlace,
    id: string,
    private readonly onUnused: () => void,
  ) {
    this.client = place.client;
    this.agent = this.client.agent(id);
    this.live = new LiveEvents(place, id, () => this.state?.shells ?? []);
  }

  /** Watches until the returned function is called. */
  follow(): () => void {
    this.followers += 1;
    if (!this.watching) {
      this.watching = new AbortController();
      void this.watch(this.watching.signal);
      this.live.watch(this.watching.signal);
    }
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.followers -= 1;
      if (this.followers > 0) return;
      this.watching?.abort();
      // A viewer that already has this feed, and follows it only now, begins to watch anew.
      this.watching = undefined;
      this.onUnused();
    };
  }

  /** Calls `listen` after each change, until the returned function is called. */
  onChange(listen: () => void): () => void {
    this.changes.on('change', listen);
    return () => void this.changes.off('change', listen);
  }

  /**
   * The messages from place `from` of the conversation on, as many as one page has; those of the running turn, too.
   * Followers at the same place share one request.
   */
  messages(from: number): Promise<Message[]> {
    const known = this.pages.get(from);
    if (known) return known;
    const page = this.readMessages(from).catch((err: unknown) => {
      this.pages.delete(from);
      throw err;
    });
    this.pages.set(from, page);
    return page;
  }

  /** One page of a run that has continued in the next one, from place `from` of its conversation on. */
  async earlierMessages(runId: string, from: number): Promise<Message[]> {
    return (await this.agent.page({ from }, runId)).messages;
  }

  /**
   * The runs that led to a run, from the one that `isWanted` on. Undefined if there is none that the server still
   * keeps.
   */
  async runsSince(
    { continuedFrom }: AgentState,
    isWanted: (runId: string) => boolean,
  ): Promise<AgentState[] | undefined> {
    const runs: AgentState[] = [];
    for (let before = continuedFrom; before && runs.length < MOST_RUNS;) {
      const run = await this.agent.ownState(before).catch((err: unknown) => {
        if (knownError(err).code === 'not_found') return undefined;
        throw err;
      });
      if (!run) return undefined;
      runs.unshift(run);
      if (isWanted(before)) return runs;
      before = run.continuedFrom;
    }
    return undefined;
  }

  /** As the agent says now, not at the last look. */
  presentState(): Promise<AgentOverview> {
    return this.agent.state();
  }

  /** Whether it is of the run that the id means now, as the server knows it. */
  async isOfPresentRun({ runId }: AgentState): Promise<boolean> {
    return (await this.agent.run()).runId === runId;
  }

  private async readMessages(from: number): Promise<Message[]> {
    const { state } = this;
    if (!state) return [];
    // Of this run: the id may mean another one by now.
    if (from < state.messages) return (await this.agent.page({ from }, state.runId)).messages;
    if (state.currentTurn === null) return [];
    return (await this.agent.turnPage(state.turns, from - state.messages))?.messages ?? [];
  }

  private async watch(signal: AbortSignal): Promise<void> {
    let before = '';
    let refreshedAt = 0;
    while (!signal.aborted) {
      let isOver = false;
      try {
        const now = await this.look();
        if (!now) return this.end('it is no longer kept');
        ({ isOver } = now);
        const isDue = this.state?.currentTurn && Date.now() - refreshedAt > REFRESH_MS;
        if (now.fingerprint !== before || isDue) {
          const state = await this.agent.state();
          // Otherwise another run has begun between the two.
          if (state.runId === now.runId) {
            before = now.fingerprint;
            refreshedAt = Date.now();
            // A turn that this look did not know of may still run: it ends after an agent that was terminated.
            this.set(state, now.isOver && (state.currentTurn ?? now.turn) === now.turn);
          }
        }
      } catch (err) {
        const known = knownError(err);
        const isFinal = !known.retryable || known.code === 'workflow_stuck';
        if (isOver && isFinal) return this.end(known.detail);
        // Its worker or the server is away: it says so by nothing else than silence, and goes on when it is back.
      }
      await delay(this.state?.currentTurn === null ? IDLE_MS : WORKING_MS, undefined, { signal }).catch(
        () => undefined,
      );
    }
  }

  private set(state: AgentOverview, isOver: boolean): void {
    const isSame = isOver === this.isOver && JSON.stringify(state) === JSON.stringify(this.state);
    // What is refreshed on time has changed only if it differs; messages of a turn are counted in its state.
    if (isSame) return;
    this.state = state;
    this.isOver = isOver;
    this.pages = new Map();
    this.version += 1;
    this.changes.emit('change');
  }

  private end(why: string): void {
    this.silence = why;
    this.version += 1;
    this.changes.emit('change');
  }

  /**
   * The fingerprint changes when the agent's or its turn's history has grown, or one of them has ended. Also returns what the
   * turn's model has written. Undefined if the server does not know the agent.
   */
  private async look(): Promise<Look | undefined> {
    const { temporal } = this.client;
    const turn = this.state?.currentTurn ?? null;
    const [agent, running] = await Promise.all([
      runningWorkflow(temporal, this.agent.workflowId),
      turn === null ? null : runningWorkflow(temporal, turn),
    ]);
    if (!agent) return undefined;
    this.live.written(turn, running?.modelCall ?? null);
    const fingerprint = `${agent.fingerprint} ${running?.fingerprint}`;
    return { fingerprint, runId: agent.runId, turn, isOver: agent.isOver && (running?.isOver ?? true) };
  }
}

/** One feed for all who follow the same agent. */
export class AgentFeeds {
  private readonly feeds = new Map<string, AgentFeed>();

  of(place: FeedPlace, agent: string): AgentFeed {
    const known = this.feeds.get(agent);
    if (known) return known;
    const feed = new AgentFeed(place, agent, () => {
      if (this.feeds.get(agent) === feed) this.feeds.delete(agent);
    });
    this.feeds.set(agent, feed);
    return feed;
  }
}
