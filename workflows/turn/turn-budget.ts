// What a turn has used so far, and what its limits leave: steps, tool calls, malformed replies, tokens, dollars and time.
import {
  DEFAULT_LIMITS,
  type EndReason,
  type TurnInput,
  type TurnLimits,
  type Usage,
} from '../../contracts/agents/agent';
import { addUsage, pricedOf, tokensOf } from '../../contracts/models/usage';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { TurnEnd } from './turn-error';
import type { TurnRecord } from './turn-record';

type Used = Pick<TurnRecord, 'steps' | 'calls' | 'ownCalls' | 'repairs' | 'usage' | 'startedAt'>;

export class TurnBudget {
  /** Start of the turn's first run, in workflow time. */
  readonly startedAt: number;
  steps: number;
  /** Replies in a row of which nothing could be used. */
  repairs: number;
  private used: Usage | null;
  private calls: number;
  private ownCalls: number;
  private readonly given: Partial<TurnLimits>;
  private readonly limits: TurnLimits;

  constructor({ settings }: Pick<TurnInput, 'settings'>, carried?: Used) {
    this.given = settings.limits ?? {};
    this.limits = { ...DEFAULT_LIMITS, ...this.given };
    this.startedAt = carried?.startedAt ?? Date.now();
    this.steps = carried?.steps ?? 0;
    this.repairs = carried?.repairs ?? 0;
    this.used = carried?.usage ?? null;
    this.calls = carried?.calls ?? 0;
    this.ownCalls = carried?.ownCalls ?? 0;
  }

  /** What the next run needs. */
  get record(): Used {
    const { steps, calls, ownCalls, repairs, used: usage, startedAt } = this;
    return { steps, calls, ownCalls, repairs, usage, startedAt };
  }

  get maxSteps(): number {
    return this.limits.steps;
  }

  get usage(): Usage | null {
    return this.used;
  }

  spend(usage: Usage | undefined): void {
    if (usage) this.used = addUsage(this.used, usage);
  }

  get wallMsLeft(): number {
    return Math.max(1, this.limits.wallMs - (Date.now() - this.startedAt));
  }

  /** Counts one more reply in a row of which nothing could be used. The turn's end if there were too many. */
  unusable(problem: string): TurnEnd | undefined {
    this.repairs += 1;
    if (this.repairsLeft >= 0) return undefined;
    const error = new HoldfastError('format_error', { attempts: this.repairs, problem });
    return { reason: 'format_error', error: error.toData() };
  }

  get repairsLeft(): number {
    return this.limits.formatRepairs - this.repairs;
  }

  /** Which limit allows no further step. */
  get over(): EndReason | undefined {
    const { limits, steps, used } = this;
    if (steps >= limits.steps) return 'step_limit';
    if (tokensOf(used) >= limits.tokens) return 'token_limit';
    return pricedOf(used) >= limits.costUsd ? 'cost_limit' : undefined;
  }

  /** What is left for sub-agents of the limits that were given; undefined if none was. */
  get left(): { tokens?: number; costUsd?: number } | undefined {
    const { tokens, costUsd } = this.given;
    if (tokens === undefined && costUsd === undefined) return undefined;
    return {
      ...(tokens !== undefined && { tokens: Math.max(0, tokens - tokensOf(this.used)) }),
      ...(costUsd !== undefined && { costUsd: Math.max(0, costUsd - pricedOf(this.used)) }),
    };
  }

  /** Counts a call of a tool. Returns how many are left after it, or why it may not run. */
  takeCall(): number | HoldfastError {
    const { toolCalls: allowed } = this.limits;
    const left = allowed - ++this.calls;
    return left >= 0
      ? left
      : new HoldfastError('budget_exceeded', { what: 'tool calls', got: allowed + 1, allowed });
  }

  /** A call that was counted is one that the turn runs itself, without an activity. */
  countOwn(): void {
    this.ownCalls += 1;
  }

  get callsOfActivities(): number {
    return this.calls - this.ownCalls;
  }
}
