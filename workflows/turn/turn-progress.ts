// What a turn is doing: for its page, which leaves no trace in history, for its query `state`, and for lists.
import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type {
  ParsedReply,
  ToolCall,
  ToolResult,
  TurnInput,
  TurnResult,
  TurnState,
  Usage,
} from '../../contracts/agents/agent';
import { isSessionNumber, hostNameOf, shellOf } from '../../contracts/ids';
import type { Wait } from '../../contracts/agents/waits';
import { TURN_STATE } from '../../contracts/agents/work-state';
import { scriptSessions } from '../../contracts/agents/script-sessions';
import { questionDetails } from '../messages/approval-labels';
import type { Approvals } from '../messages/approvals';
import type { OpenQuestions } from '../messages/open-questions';
import { endedTurnDetails, factOf, turnDetails, type SeenSession } from '../agent/agent-labels';
import { ToldState } from '../messages/told-state';

type Calls = Extract<ParsedReply, { kind: 'calls' }>;
/** The idempotency key of a call in the current step. */
type KeyOf = (call: ToolCall) => string;

/** Tools whose calls mean session 0 if they name none. */
const OF_SESSION_ZERO: readonly string[] = ['code_execution_tool', 'input'];

/** The session that a call is for; `key` is the call's. */
export function sessionOf({ tool, args }: ToolCall, key: string): number | null {
  // These sessions are on another host; the agent's end finds them by itself.
  if (tool === 'code_execution_remote' || args.host !== undefined) return null;
  const { session } = args;
  if (isSessionNumber(session)) return session;
  if (session !== undefined) return null;
  if (tool === 'execute_python_code') return scriptSessions(key)[0] ?? null;
  return OF_SESSION_ZERO.includes(tool) ? 0 : null;
}

export class TurnProgress {
  private readonly sessions = new Map<number, SeenSession>();
  private headline: string | null = null;
  private thoughts: readonly string[] = [];
  private forPeople: number[] = [];
  private step = 0;
  private doing = 'Starting';
  private since = new Date();
  /** Null once it has ended. */
  private phase: 'model' | 'tools' | null = 'model';
  private approvals: Approvals | null = null;
  /** Since when it waits for sub-agents, one entry for each call. */
  private readonly agentsSince: Date[] = [];
  private readonly told = ToldState.given();
  private elsewhere: OpenQuestions | null = null;

  constructor(
    private readonly input: TurnInput,
    private readonly maxSteps: number,
  ) {}

  asksModel(step: number): void {
    this.step = step;
    this.forPeople = [];
    this.begin('model', `Asking the model ${this.input.settings.model}`);
  }

  compacts(step: number): void {
    this.step = step;
    this.begin('model', 'Summarizing the conversation');
  }

  runs({ calls, headline, thoughts }: Calls, keyOf: KeyOf): void {
    this.headline = headline;
    this.thoughts = thoughts;
    this.forPeople = [];
    for (const call of calls) {
      const session = sessionOf(call, keyOf(call));
      if (session === null) continue;
      if (call.args.interactive === true) this.forPeople.push(session);
      const { seenAt = null, fact = '' } = this.sessions.get(session) ?? {};
      this.sessions.set(session, { calledAt: this.step, seenAt, fact });
    }
    this.begin(
      'tools',
      `Running ${calls.map((call) => describe(call, sessionOf(call, keyOf(call)))).join(', ')}`,
    );
  }

  saw(session: number | null, result: ToolResult): void {
    const fact = factOf(result) ?? (result.isError ? 'an error' : 'done');
    if (session !== null) this.sessions.set(session, { calledAt: this.step, seenAt: this.step, fact });
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
    Object.assign(this, { phase: null, doing: `Ended as ${result.reason}`, since: new Date() });
    setCurrentDetails(endedTurnDetails(result));
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

  private begin(phase: 'model' | 'tools', doing: string): void {
    this.phase = phase;
    this.doing = doing;
    this.since = new Date();
    this.show();
  }

  /** Model calls and tools are not told to lists: they are brief, and nobody else has to give anything. */
  private tell(): void {
    const waits = this.waits?.for;
    const isBrief = waits === undefined || waits === 'model' || waits === 'tools' || waits === 'turn';
    this.told.tell({ ...TURN_STATE, waitsFor: isBrief ? 'none' : waits });
  }

  private show(): void {
    this.tell();
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

function describe({ tool, args: { runtime } }: ToolCall, session: number | null): string {
  return [tool, typeof runtime === 'string' && runtime, session !== null && `in session ${session}`]
    .filter((part) => part !== false)
    .join(' ');
}
