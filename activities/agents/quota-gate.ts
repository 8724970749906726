// The quota before and after each model call. A deployment without one pays nothing: neither a query nor a signal.
import { Context } from '@temporalio/activity';
import type { QuotaCounter } from '../../client/quota-counter';
import type { Usage } from '../../contracts/agents/agent';
import type { SummaryCall } from '../../contracts/models/model-call';
import { isLimited, nextDayMs, reachedOf, usedAt, type DailyQuota } from '../../contracts/models/daily-quota';
import { agentWorkflowId } from '../../contracts/ids';
import { tokensOf } from '../../contracts/models/usage';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { toRetryableFailure } from '../../contracts/errors/failure';
import { crashPoint } from '../../system/faults/crash-point';

/** How often a turn that waits looks again: the limit may have been raised. The server keeps the time. */
const LOOK_MS = 15_000;

export interface QuotaGateOptions {
  counter: Pick<QuotaCounter, 'read' | 'add'>;
  /** The current one: it follows the configuration. */
  limits: () => DailyQuota;
}

export class QuotaGate {
  constructor(private readonly options: QuotaGateOptions) {}

  /** Throws `quota_reached` once the quota is used up. Calls that run at the time may go beyond it. */
  async admit(call: SummaryCall): Promise<void> {
    const reached = mayWait(call) ? await this.reached() : undefined;
    if (reached) throw new HoldfastError('quota_reached', reached);
  }

  /** Counts what a call of the model has used, once. One for a summary may make several requests: this is the nth. */
  async count(call: SummaryCall, usage: Usage | null | undefined, nth = 1): Promise<void> {
    const { counter, limits } = this.options;
    crashPoint('model-answered');
    if (isLimited(limits()) && usage) {
      const { turn, earlier } = call;
      // A summary between turns is of what comes before any turn: that becomes more until the agent's next one.
      const { count: messages } = mayWait(call) ? turn : earlier;
      const run = `${turn.runId ?? turn.workflowId}${nth > 1 ? `#${nth}` : ''}`;
      await counter.add({ run, messages, tokens: tokensOf(usage), costUsd: usage.costUsd });
    }
    crashPoint('model-counted');
  }

  /** For an activity that the server tries again until there is room. */
  async waitForRoom(): Promise<void> {
    const reached = await this.reached();
    if (!reached) return;
    const now = serverTime();
    const retryAfterMs = Math.min(LOOK_MS, nextDayMs(now) - now);
    throw toRetryableFailure(new HoldfastError('quota_reached', { ...reached, retryAfterMs }));
  }

  private async reached(): Promise<{ got: string; allowed: string; until: string } | undefined> {
    const { counter, limits } = this.options;
    if (!isLimited(limits())) return undefined;
    const now = serverTime();
    const used = usedAt(await counter.read(), now);
    const reached = reachedOf(limits(), used);
    return reached && { ...reached, until: new Date(nextDayMs(now)).toISOString() };
  }
}

/** An agent that sums up between two turns cannot wait: it would go on without the conversation. It is counted. */
const mayWait = ({ agent, turn }: SummaryCall): boolean => turn.workflowId !== agentWorkflowId(agent);

/** When the server handed out this attempt: the clock that the counter goes by, too. */
const serverTime = (): number => Context.current().info.currentAttemptScheduledTimestampMs;
