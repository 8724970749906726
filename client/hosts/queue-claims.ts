// The claims of task queues: which data folder serves which. A claim is a running workflow under the queue's name, so
// the server itself ensures that there is only one, and neither making nor reading it needs a worker.
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { CLAIM_MEMO, claimWorkflowId, placeOf, type ClaimFacts } from '../../contracts/sessions/claims';
import { asSummary } from '../../contracts/text/labels';
import { WORKFLOWS } from '../../contracts/messages';

/** A valid claim. */
export interface Claim {
  facts: ClaimFacts;
  runId: string;
  /** When it was made, by the server's clock. */
  since: Date;
}

export class QueueClaims {
  constructor(
    private readonly client: Client,
    /** The queue whose workers know the workflow `claim`. */
    private readonly agentsQueue: string,
  ) {}

  /** The claim of a queue; null if nobody has claimed it. */
  async read(taskQueue: string): Promise<Claim | null> {
    try {
      const handle = this.client.workflow.getHandle(claimWorkflowId(taskQueue));
      const { status, memo, runId, startTime } = await handle.describe();
      const facts = memo?.[CLAIM_MEMO] as ClaimFacts | undefined;
      return status.name === 'RUNNING' && facts ? { facts, runId, since: startTime } : null;
    } catch (err) {
      if (err instanceof WorkflowNotFoundError) return null;
      throw err;
    }
  }

  /** Claims the queue unless someone already has, and returns the valid claim. */
  async make(taskQueue: string, facts: ClaimFacts): Promise<Claim> {
    for (;;) {
      const standing = await this.read(taskQueue);
      if (standing) return standing;
      try {
        await this.client.workflow.start(WORKFLOWS.claim, {
          workflowId: claimWorkflowId(taskQueue),
          taskQueue: this.agentsQueue,
          workflowIdConflictPolicy: 'FAIL',
          memo: { [CLAIM_MEMO]: facts },
          staticSummary: asSummary(`${taskQueue} belongs to ${placeOf(facts)}`),
        });
      } catch (err) {
        // Someone was faster: their claim is read next.
        if (!(err instanceof WorkflowExecutionAlreadyStartedError)) throw err;
      }
    }
  }

  /** Frees the queue, if exactly this claim is still valid. */
  async free(taskQueue: string, { runId }: Pick<Claim, 'runId'>, reason: string): Promise<void> {
    try {
      await this.client.workflow.getHandle(claimWorkflowId(taskQueue), runId).terminate(reason);
    } catch (err) {
      if (!(err instanceof WorkflowNotFoundError)) throw err;
    }
  }
}
