// The sessions that an agent owns: those opened ahead, and those that its turns opened.
import { isCancellation, log } from '@temporalio/workflow';
import type { AgentInput } from '../../contracts/schemas/agent';
import type { TurnResult } from '../../contracts/agents/agent';
import { fromFailure } from '../../contracts/errors/failure';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { hostNameOf, shellOf } from '../../contracts/ids';
import { label } from '../../contracts/text/labels';
import { refuse } from '../messages/refusal';
import { closeSessions, resetSessions } from './conversation/between-turns';
import type { ConversationRecord } from './conversation/conversation-record';

export class AgentSessions {
  private readonly known: Set<number>;
  /** Whether any may be open: tools and scripts open more than turns can name. */
  private mayBeOpen: boolean;
  private readonly host: string;
  private notReset: unknown;
  private recovering: Promise<unknown> | null = null;

  constructor(
    private readonly agent: string,
    private readonly input: AgentInput,
    carried: ConversationRecord | undefined,
  ) {
    this.host = hostNameOf(input);
    this.known = new Set([...(input.openSessions ?? []), ...(carried?.sessions ?? [])]);
    this.mayBeOpen = this.known.size > 0 || (carried !== undefined && !carried.isWithoutSessions);
  }

  get numbers(): number[] {
    return [...this.known];
  }

  get shells(): ReturnType<typeof shellOf>[] {
    return this.numbers.map((session) => shellOf({ agent: this.agent, host: this.host, session }));
  }

  get record(): Pick<ConversationRecord, 'sessions' | 'isWithoutSessions'> {
    return { sessions: this.numbers, ...(!this.mayBeOpen && { isWithoutSessions: true }) };
  }

  /** @param turn null: it was lost, and what it opened is not known */
  opened(turn: Pick<TurnResult, 'sessions' | 'calls'> | null): void {
    for (const session of turn?.sessions ?? []) this.known.add(session);
    if (turn?.calls !== 0) this.mayBeOpen = true;
  }

  async reset(reason: string): Promise<void> {
    await resetSessions.executeWithOptions({ summary: label(`reset the sessions: ${reason}`) }, [
      this.all(reason),
    ]);
  }

  /**
   * One that is asked for meanwhile is the same.
   * @param turns how many turns have begun
   * @returns why some may not have been reset; the conversation goes on
   */
  recover(reason: string, turns: number): Promise<unknown> {
    return (this.recovering ??= this.recoverOnce(reason, turns).finally(() => (this.recovering = null)));
  }

  private async recoverOnce(reason: string, turns: number): Promise<unknown> {
    this.notReset = undefined;
    if (turns === 0 && !this.mayBeOpen) return undefined;
    try {
      await this.reset(reason);
    } catch (err) {
      if (isCancellation(err)) throw err;
      this.notReset = err;
    }
    return this.notReset;
  }

  /** Throws `unknown_outcome` if the last recovery could not reset all. */
  checkRecovered(): void {
    if (this.notReset === undefined) return;
    const reason = fromFailure(this.notReset)?.detail ?? reasonOf(this.notReset);
    const next = 'Send `recover` again once what is in its way is gone; the turn has ended.';
    refuse('unknown_outcome', { what: 'the reset of all sessions', reason, next });
  }

  /** @returns why some may still be open; the end of an agent does not fail for it */
  async close(reason: string): Promise<unknown> {
    if (this.input.keep || !this.mayBeOpen) return undefined;
    try {
      await closeSessions.executeWithOptions({ summary: label(`close the sessions: ${reason}`) }, [
        this.all(reason),
      ]);
      return undefined;
    } catch (err) {
      if (isCancellation(err)) throw err;
      log.warn('the sessions of an agent could not be closed', { reason: reasonOf(fromFailure(err) ?? err) });
      return err;
    }
  }

  private all(reason: string): { agent: string; host: string; sessions: number[]; reason: string } {
    return { agent: this.agent, host: this.host, sessions: this.numbers, reason };
  }
}
