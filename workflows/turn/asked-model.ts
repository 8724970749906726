// The model calls of a turn: its replies, and summaries. While the quota of the day is used up, the turn waits here.
import { CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { AgentActivities } from '../../contracts/activities';
import type { Compaction, ModelCall, SummaryCall } from '../../contracts/models/model-call';
import type { PlannedReply } from '../../contracts/models/model-reply';
import { fromFailure } from '../../contracts/errors/failure';
import { label } from '../../contracts/text/labels';
import { heardHere, LASTING } from './calls/tool-activities';
import type { TurnProgress } from './turn-progress';

const { callModel, compact, awaitQuota } = proxyActivities<AgentActivities>(LASTING);

export class AskedModel {
  /** What an interruption cancels: the model call, but no tool. */
  private asking: CancellationScope | null = null;

  constructor(
    private readonly progress: TurnProgress,
    private readonly wallMsLeft: () => number,
  ) {}

  interrupt(): void {
    this.asking?.cancel();
  }

  reply(step: number, model: string, call: () => ModelCall): Promise<PlannedReply> {
    const summary = label(`step ${step}: ${model}`);
    return this.withinQuota(() => {
      this.progress.asksModel(step);
      const asked = call();
      return heardHere(asked.key, callModel.executeWithOptions(this.options(summary), [asked]));
    });
  }

  /** A separate step: a summary replaces the conversation. */
  summary(step: number, call: () => SummaryCall): Promise<Compaction> {
    const summary = label(`step ${step}: sum up the conversation`);
    return this.withinQuota(() => {
      this.progress.compacts(step);
      const asked = call();
      return heardHere(asked.key, compact.executeWithOptions(this.options(summary), [asked]));
    });
  }

  /** Ended by the server, which then reports the failure of the last attempt; a cancellation would hide it. */
  private options(summary: string): { summary: string; scheduleToCloseTimeout: number } {
    return { summary, scheduleToCloseTimeout: this.wallMsLeft() };
  }

  private async withinQuota<T>(ask: () => Promise<T>): Promise<T> {
    const asking = new CancellationScope();
    this.asking = asking;
    for (;;) {
      try {
        return await asking.run(ask);
      } catch (err) {
        const reached = fromFailure(err);
        if (reached?.code !== 'quota_reached') throw err;
        this.progress.waitsForQuota(reached.facts);
      }
      // An activity that fails until there is room: the server tries it again, which costs no history.
      await asking.run(() =>
        awaitQuota.executeWithOptions(this.options('the quota of the day is used up'), []),
      );
    }
  }
}
