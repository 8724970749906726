// Keeps the current details of a turn's page up to date. Not a command: it leaves no trace in history.
import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { ParsedReply, ToolCall, ToolResult, TurnInput, TurnResult } from '../contracts/agent';
import { isSessionNumber, LOCAL_HOST } from '../contracts/ids';
import { endedTurnDetails, factOf, turnDetails, type SeenSession } from './agent-labels';

type Calls = Extract<ParsedReply, { kind: 'calls' }>;

/** The session that a call is for: sessions count from 0, which is also the default. */
export const sessionOf = ({ args: { session = 0 } }: ToolCall): number | null =>
  isSessionNumber(session) ? session : null;

export class TurnProgress {
  private readonly sessions = new Map<number, SeenSession>();
  private headline: string | null = null;
  private thoughts: readonly string[] = [];
  private step = 0;

  constructor(
    private readonly input: TurnInput,
    private readonly maxSteps: number,
  ) {}

  asksModel(step: number): void {
    this.step = step;
    this.show(`Asks the model ${this.input.settings.model}`);
  }

  compacts(step: number): void {
    this.step = step;
    this.show('Sums up the conversation');
  }

  runs({ calls, headline, thoughts }: Calls): void {
    this.headline = headline;
    this.thoughts = thoughts;
    for (const call of calls) {
      const session = sessionOf(call);
      if (session === null) continue;
      const { seenAt = null, fact = '' } = this.sessions.get(session) ?? {};
      this.sessions.set(session, { calledAt: this.step, seenAt, fact });
    }
    this.show(`Runs ${calls.map(describe).join(', ')}`);
  }

  saw(call: ToolCall, result: ToolResult): void {
    const session = sessionOf(call);
    const fact = factOf(result) ?? (result.isError ? 'an error' : 'done');
    if (session !== null) this.sessions.set(session, { calledAt: this.step, seenAt: this.step, fact });
  }

  ended(result: TurnResult): void {
    setCurrentDetails(endedTurnDetails(result));
  }

  private show(doing: string): void {
    const { agent, settings } = this.input;
    setCurrentDetails(
      turnDetails({
        agent,
        host: settings.host ?? LOCAL_HOST,
        namespace: workflowInfo().namespace,
        step: this.step,
        maxSteps: this.maxSteps,
        doing,
        since: new Date(),
        headline: this.headline,
        thoughts: this.thoughts,
        sessions: this.sessions,
      }),
    );
  }
}

function describe(call: ToolCall): string {
  const { runtime } = call.args;
  const session = sessionOf(call);
  return [call.tool, typeof runtime === 'string' && runtime, session !== null && `in session ${session}`]
    .filter((part) => part !== false)
    .join(' ');
}
