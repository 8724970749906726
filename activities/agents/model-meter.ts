// Metrics of model calls: how they end, what they cost, and which are being tried again.
import { activityInfo, metricMeter } from '@temporalio/activity';
import type { Usage } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { count, observe } from '../../contracts/telemetry/metrics';

/** Names of models come from users: beyond these, metrics say `other`. */
const MAX_MODELS = 50;
/** A call that is not tried again here by then is tried by another worker, or its turn is over. */
const FORGET_MS = 120_000;

export class ModelMeter {
  private readonly models = new Set<string>();
  /** Calls whose last attempt failed in a way that is retried: since when, and when that attempt ended. */
  private readonly failing = new Map<string, { since: number; failedAt: number }>();

  /** Runs one attempt; to be called in an activity. */
  async measure<T extends { usage?: Usage | undefined }>(
    model: string,
    signal: AbortSignal,
    attempt: () => Promise<T>,
  ): Promise<T> {
    const name = this.nameOf(model);
    const began = performance.now();
    const key = keyOfActivity();
    let outcome = 'answered';
    try {
      const reply = await attempt();
      this.failing.delete(key);
      if (reply.usage) spend(name, reply.usage);
      return reply;
    } catch (err) {
      outcome = signal.aborted ? 'cancelled' : err instanceof HoldfastError ? err.code : 'internal';
      const isRetried = !signal.aborted && (!(err instanceof HoldfastError) || err.retryable);
      if (isRetried)
        this.failing.set(key, { since: activityInfo().scheduledTimestampMs, failedAt: Date.now() });
      else this.failing.delete(key);
      throw err;
    } finally {
      count(metricMeter, 'holdfast_model_calls', { model: name, outcome });
      const seconds = (performance.now() - began) / 1_000;
      observe(metricMeter, 'holdfast_model_call_duration_seconds', { model: name }, seconds);
    }
  }

  /** How many calls are being tried again, and for how many seconds the oldest of them has been tried. */
  retries(): { calls: number; oldestSeconds: number } {
    const now = Date.now();
    for (const [key, { failedAt }] of this.failing) if (now - failedAt > FORGET_MS) this.failing.delete(key);
    const since = [...this.failing.values()].map((call) => call.since);
    return {
      calls: since.length,
      oldestSeconds: since.length === 0 ? 0 : (now - Math.min(...since)) / 1_000,
    };
  }

  private nameOf(model: string): string {
    if (!this.models.has(model) && this.models.size >= MAX_MODELS) return 'other';
    this.models.add(model);
    return model;
  }
}

function keyOfActivity(): string {
  const { workflowExecution, activityId } = activityInfo();
  return `${workflowExecution?.runId ?? ''} ${activityId}`;
}

function spend(model: string, { inputTokens, cachedTokens, outputTokens, costUsd }: Usage): void {
  const tokens = {
    input: Math.max(0, inputTokens - cachedTokens),
    cached: cachedTokens,
    output: outputTokens,
  };
  for (const [type, number] of Object.entries(tokens))
    count(metricMeter, 'holdfast_tokens', { model, type }, number);
  if (costUsd !== null) observe(metricMeter, 'holdfast_model_call_cost_dollars', { model }, costUsd);
}
