// Which resets of sessions this host has carried out. A command that was accepted before one may still be on its way: held
// up by the checks, a secret, a terminal that opens, or in the task queue. It must not begin after its reset.
import { Context } from '@temporalio/activity';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { SessionRef } from '../../contracts/ids';

const REMEMBERED_SESSIONS = 10_000;

interface Reset {
  /** Of the workflow, whose next run, also after a reset of the workflow itself, says what it wants no longer. */
  run: string;
  number: number;
  reason: string;
}

export class SessionResets {
  /** By workflow id. */
  private readonly latest = new Map<string, Reset>();

  /** To be called before it is carried out: that ends what begins until then. */
  add(number: number | undefined, reason: string): void {
    const { workflowId, runId: run } = here();
    if (number === undefined || number <= this.numberOf(workflowId, run)) return;
    // Deleted and added again, so that the first is the one that was reset longest ago.
    this.latest.delete(workflowId);
    this.latest.set(workflowId, { run, number, reason });
    const [oldest] = this.latest.keys();
    if (oldest !== undefined && this.latest.size > REMEMBERED_SESSIONS) this.latest.delete(oldest);
  }

  /** For a command that arrives: what it returns throws `not_begun` if the session was reset after it was accepted. */
  arrived({ session }: SessionRef, resets: number | undefined): () => void {
    const { workflowId, runId: run } = here();
    const before = this.latest.get(workflowId);
    // Not forgotten: a command of that run may still be held up.
    const ofAnotherRun = before?.run === run ? undefined : before;
    return () => {
      const latest = this.latest.get(workflowId);
      if (!latest || latest === ofAnotherRun || resets === undefined) return;
      // The numbers of another run are others; what it has reset since was reset for this command, too.
      if (latest.run !== run || resets < latest.number)
        throw new HoldfastError('not_begun', { session, reason: latest.reason });
    };
  }

  private numberOf(workflowId: string, run: string): number {
    const latest = this.latest.get(workflowId);
    return latest?.run === run ? latest.number : 0;
  }
}

const here = (): { workflowId: string; runId: string } =>
  Context.current().info.workflowExecution ?? { workflowId: '', runId: '' };
