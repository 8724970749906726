// Which runs of session workflows have closed their terminals. A command of such a run may still be on its way: held up
// by the checks, by a terminal that opens, or in the task queue. It must not open the terminal again.
import { Context } from '@temporalio/activity';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { SessionRef } from '../../contracts/ids';

/** A run ends within seconds of its close, and the server gives out none of its tasks after that. */
const REMEMBERED_RUNS = 10_000;

export class ClosedRuns {
  private readonly reasons = new Map<string, string | null>();

  /** The run that called the current activity closes its session. */
  add(reason: string | null): void {
    this.reasons.set(runHere(), reason);
    const [oldest] = this.reasons.keys();
    if (oldest !== undefined && this.reasons.size > REMEMBERED_RUNS) this.reasons.delete(oldest);
  }

  /** Throws `not_begun` if the run that called the current activity has closed its session. */
  refuse({ session }: SessionRef): void {
    const reason = this.reasons.get(runHere());
    if (reason !== undefined)
      throw new HoldfastError('not_begun', { session, reason: reason ?? 'the session was closed' });
  }
}

const runHere = (): string => Context.current().info.workflowExecution?.runId ?? '';
