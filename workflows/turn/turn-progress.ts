// What a turn is doing: for its page, which leaves no trace in history, for its query `state`, and for lists.
import { log, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type {
  ParsedReply,
  ToolCall,
  ToolResult,
  TurnInput,
  TurnResult,
  TurnState,
  Usage,
} from '../../contracts/agents/agent';
import { hostNameOf, shellOf } from '../../contracts/ids';
import { noticeId, type NoticeId } from '../../contracts/agents/notices';
import type { ErrorFacts } from '../../contracts/errors/holdfast-error';
import type { Wait } from '../../contracts/agents/waits';
import { tokensOf } from '../../contracts/models/usage';
import { TURN_STATE } from '../../contracts/agents/work-state';
import { stateText } from '../../contracts/sessions/session-facts';
import { questionDetails } from '../messages/approval-labels';
import type { Approvals } from '../messages/approvals';
import type { OpenQuestions } from '../messages/open-questions';
import { endedTurnDetails, turnDetails, type SeenSession } from '../agent/agent-labels';
import { phaseEnded } from '../messages/metered';
import { PublishedState } from '../messages/published-state';

type Calls = Extract<ParsedReply, { kind: 'calls' }>;

export class TurnProgress {
  private readonly sessions = new Map<number, SeenSession>();
  private headline: string | null = null;
  private thoughts: readonly string[] = [];
  private forPeople: number[] = [];
  private step = 0;
  private doing = 'Starting';
  private since = new Date();
  /** Null once it has ended. */
  private phase: 'model' | 'quota' | 'tools' | null = 'model';
  private approvals: Approvals | null = null;
  /** Since when it waits for sub-agents, one entry for each call. */
  private readonly agentsSince: Date[] = [];
  private readonly published = PublishedState.given();
  private elsewhere: OpenQuestions | null = null;

  constructor(
    private readonly input: TurnInput,
    private readonly maxSteps: number,
  ) {}

  asksModel(step: number): void {
    this.forPeople = [];
    this.begin('model', `Asking the model ${this.input.settings.model}`, step);
  }

  compacts(step: number): void {
    this.begin('model', 'Summarizing the conversation', step);
  }

  waitsForQuota({ got, allowed, until }: ErrorFacts): void {
    const used = `got ${got}, allowed ${allowed}`;
    this.begin(
      'quota',
      `The quota of the day is used up (${used}): goes on at ${until}, or with a higher one`,
    );
  }

  runs({ calls, headline, thoughts }: Calls): void {
    this.headline = headline;
    this.thoughts = thoughts;
    this.forPeople = [];
    for (const { session, forPerson } of calls.map(({ facts = {} }) => facts)) {
      if (session === undefined) continue;
      if (forPerson) this.forPeople.push(session);
      const { seenAt = null, fact = '', isWaiting = false } = this.sessions.get(session) ?? {};
      this.sessions.set(session, { calledAt: this.step, seenAt, fact, isWaiting });
    }
    this.begin('tools', `Running ${calls.map(describe).join(', ')}`);
  }

  /** The result of a call that uses `session`, as far as that was known before. */
  saw(session: number | undefined, result: ToolResult): void {
    const used = result.session?.session ?? session;
    if (used === undefined) return;
    // The expected session was taken, and the call went to the next one.
    if (session !== undefined && session !== used && this.sessions.get(session)?.seenAt === null)
      this.sessions.delete(session);
    this.sessions.set(used, { calledAt: this.step, seenAt: this.step, ...stateAfter(result) });
  }

  /** Its own pending approvals, shown above what it is doing. */
  holds(approvals: Approvals): void {
    this.approvals = approvals;
    this.show();
  }

  /** Runs a wait for sub-agents. */
  async waitsForAgents<T>(wait: () => Promise<T>): Promise<T> {
    const since = new Date();
    this.agentsSince.push(since);
    this.show();
    try {
      return await wait();
    } finally {
      this.agentsSince.splice(this.agentsSince.indexOf(since), 1);
      this.show();
    }
  }

  /** The same for the agent's sessions, which a tool of this step may be waiting for. */
  holdsElsewhere(questions: OpenQuestions): void {
    this.elsewhere = questions;
    this.show();
  }

  ended(result: TurnResult): void {
    this.endPhase();
    Object.assign(this, { phase: null, doing: `Ended as ${result.reason}`, since: new Date() });
    setCurrentDetails(endedTurnDetails(result));
    const { reason, steps, usage = null, error } = result;
    const facts = { reason, steps, tokens: tokensOf(usage), costUsd: usage?.costUsd ?? null };
    if (error) log.warn('turn ended', { ...facts, code: error.code });
    else log.info('turn ended', facts);
  }

  /** The answer to the query `state`. */
  state({ usage, messages }: { usage: Usage | null; messages: number }): TurnState {
    const { workflowId } = workflowInfo();
    const { agent, turn, settings } = this.input;
    const { step, maxSteps, doing, headline } = this;
    const host = hostNameOf(settings);
    const own = this.approvals?.waiting.map((one) => ({ ...one, workflowId })) ?? [];
    return {
      ...{ agent, turn, model: settings.model, step, maxSteps, doing },
      since: this.since.toISOString(),
      headline,
      waits: this.waits,
      sessions: [...this.sessions].map(([session, { calledAt, seenAt, fact }]) => ({
        ...shellOf({ agent, host, session }),
        calledAt,
        seenAt,
        fact: seenAt === null ? null : fact,
      })),
      approvals: [...own, ...(this.elsewhere?.open ?? [])],
      usage,
      messages,
    };
  }

  private get waits(): Wait | null {
    if (this.phase === null) return null;
    const { workflowId } = workflowInfo();
    const since = this.since.toISOString();
    const asked = this.approvals?.waiting[0]?.askedAt;
    if (asked !== undefined) return { for: 'approval', since: asked, workflowId };
    const [agentsSince] = this.agentsSince;
    if (agentsSince) return { for: 'agents', since: agentsSince.toISOString(), workflowId };
    return { for: this.forPeople.length > 0 ? 'person' : this.phase, since, workflowId };
  }

  private endPhase(): void {
    if (this.phase !== null && this.phase !== 'quota' && this.step > 0)
      phaseEnded(this.phase, this.since.getTime());
  }

  private begin(phase: 'model' | 'quota' | 'tools', doing: string, step = this.step): void {
    this.endPhase();
    this.step = step;
    this.phase = phase;
    this.doing = doing;
    this.since = new Date();
    this.show();
  }

  /** Model calls and tools are not published to lists: they are brief, and need no one else. */
  private publish(): void {
    const waits = this.waits?.for;
    const isBrief = waits === undefined || waits === 'model' || waits === 'tools' || waits === 'turn';
    this.published.publish({ ...TURN_STATE, waitsFor: isBrief ? 'none' : waits }, this.notices);
  }

  private get notices(): NoticeId[] {
    const held = this.approvals?.waiting.map(({ id }) => noticeId('approval', id)) ?? [];
    const people = this.phase === 'tools' ? this.forPeople : [];
    return [...held, ...people.map((session) => noticeId('person', `step-${this.step}-session-${session}`))];
  }

  private show(): void {
    this.publish();
    const { agent, settings } = this.input;
    const { namespace } = workflowInfo();
    const inSessions = questionDetails(this.elsewhere?.open ?? [], namespace);
    const above = [this.approvals?.details() ?? '', inSessions]
      .filter((part) => part !== '')
      .map((part) => `${part}\n\n`);
    setCurrentDetails(
      above.join('') +
        turnDetails({
          agent,
          host: hostNameOf(settings),
          namespace,
          step: this.step,
          maxSteps: this.maxSteps,
          doing: this.doing,
          since: this.since,
          headline: this.headline,
          thoughts: this.thoughts,
          sessions: this.sessions,
          forPeople: this.forPeople,
        }),
    );
  }
}

/** What a session is doing after a call. */
function stateAfter({ session, isError }: ToolResult): Pick<SeenSession, 'fact' | 'isWaiting'> {
  if (session) return { fact: stateText(session), isWaiting: session.state === 'waiting_input' };
  return { fact: isError ? 'an error' : 'done', isWaiting: false };
}

function describe({ tool, args, facts: { session, roles } = {} }: ToolCall): string {
  const runtime = roles?.runtime === undefined ? undefined : args[roles.runtime];
  return [tool, typeof runtime === 'string' && runtime, session !== undefined && `in session ${session}`]
    .filter((part) => part !== false)
    .join(' ');
}
