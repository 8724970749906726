// Keeps the current details of a turn's page up to date. Not a command: it leaves no trace in history.
import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { ParsedReply, ToolCall, ToolResult, TurnInput, TurnResult } from '../contracts/agent';
import { isSessionNumber, LOCAL_HOST } from '../contracts/ids';
import { scriptSessions } from '../contracts/script-sessions';
import { questionDetails } from './approval-labels';
import type { OpenQuestions } from './open-questions';
import { endedTurnDetails, factOf, turnDetails, type SeenSession } from './agent-labels';

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
  private doing = '';
  private held = '';
  private elsewhere: OpenQuestions | null = null;

  constructor(
    private readonly input: TurnInput,
    private readonly maxSteps: number,
  ) {}

  asksModel(step: number): void {
    this.step = step;
    this.forPeople = [];
    this.show(`Asking the model ${this.input.settings.model}`);
  }

  compacts(step: number): void {
    this.step = step;
    this.show('Summarizing the conversation');
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
    this.show(`Running ${calls.map((call) => describe(call, sessionOf(call, keyOf(call)))).join(', ')}`);
  }

  saw(session: number | null, result: ToolResult): void {
    const fact = factOf(result) ?? (result.isError ? 'an error' : 'done');
    if (session !== null) this.sessions.set(session, { calledAt: this.step, seenAt: this.step, fact });
  }

  /** Pending approvals, in Markdown, above what the turn is doing. */
  holds(details: string): void {
    this.held = details;
    this.show(this.doing);
  }

  /** The same for the agent's sessions, which a tool of this step may be waiting for. */
  holdsElsewhere(questions: OpenQuestions): void {
    this.elsewhere = questions;
    this.show(this.doing);
  }

  ended(result: TurnResult): void {
    setCurrentDetails(endedTurnDetails(result));
  }

  private show(doing: string): void {
    const { agent, settings } = this.input;
    this.doing = doing;
    const { namespace } = workflowInfo();
    const inSessions = questionDetails(this.elsewhere?.open ?? [], namespace);
    const above = [this.held, inSessions].filter((part) => part !== '').map((part) => `${part}\n\n`);
    setCurrentDetails(
      above.join('') +
        turnDetails({
          agent,
          host: settings.host ?? LOCAL_HOST,
          namespace,
          step: this.step,
          maxSteps: this.maxSteps,
          doing,
          since: new Date(),
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
