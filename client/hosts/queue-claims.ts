// The claims of task queues: which data folder serves which. A claim is a running workflow under the queue's name, so
// the server itself ensures that there is only one, and neither making nor reading it needs a worker.
import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import {
  defaultPayloadConverter,
  METADATA_ENCODING_KEY,
  type Duration,
  type Payload,
} from '@temporalio/common';
import { decodeMapFromPayloads } from '@temporalio/common/lib/internal-non-workflow';
import { CLAIM_MEMO, claimWorkflowId, placeOf, type ClaimFacts } from '../../contracts/sessions/claims';
import { asSummary } from '../../contracts/text/labels';
import { WORKFLOWS } from '../../contracts/messages';
import { describeWorkflow, type DescribedWorkflow } from '../delivery/list-workflows';

const isPlain = ({ metadata }: Payload): boolean =>
  Buffer.from(metadata?.[METADATA_ENCODING_KEY] ?? []).toString() === 'json/plain';

/** How long a claim lasts that only reads the time: its maker may be killed before it frees it. */
const TIME_TOLD = '1 minute';

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

  /** The claim of a queue; null if it is not claimed. */
  async read(taskQueue: string): Promise<Claim | null> {
    try {
      const found = await describeWorkflow(this.client, claimWorkflowId(taskQueue));
      if (found.status.name !== 'RUNNING') return null;
      const facts = found.memo?.[CLAIM_MEMO] ?? (await this.plainMemo(found));
      return facts ? { facts: facts as ClaimFacts, runId: found.runId, since: found.startTime } : null;
    } catch (err) {
      if (err instanceof WorkflowNotFoundError) return null;
      throw err;
    }
  }

  /**
   * Of a claim that was made before encryption was required, and outlives it. Its facts are no secret, and who may write
   * to the server can end a claim and make another anyway. Throws why it cannot be read if it is encrypted.
   */
  private async plainMemo({ workflowId, raw }: DescribedWorkflow): Promise<unknown> {
    const { namespace, loadedDataConverter } = this.client.options;
    const payload = raw.workflowExecutionInfo?.memo?.fields?.[CLAIM_MEMO];
    if (!payload) return undefined;
    if (isPlain(payload)) return defaultPayloadConverter.fromPayload(payload);
    const context = { type: 'workflow' as const, namespace, workflowId };
    return (await decodeMapFromPayloads(loadedDataConverter, { [CLAIM_MEMO]: payload }, context))?.[
      CLAIM_MEMO
    ];
  }

  /**
   * Claims the queue unless someone already has, and returns the valid claim.
   * @param lasts until it is freed, if absent
   */
  async make(taskQueue: string, facts: ClaimFacts, lasts?: Duration): Promise<Claim> {
    for (;;) {
      const standing = await this.read(taskQueue);
      if (standing) return standing;
      try {
        await this.client.workflow.start(WORKFLOWS.claim, {
          workflowId: claimWorkflowId(taskQueue),
          taskQueue: this.agentsQueue,
          workflowIdConflictPolicy: 'FAIL',
          memo: { [CLAIM_MEMO]: facts },
          ...(lasts !== undefined && { workflowExecutionTimeout: lasts }),
          staticSummary: asSummary(`${taskQueue} belongs to ${placeOf(facts)}`),
        });
      } catch (err) {
        // Someone was faster: their claim is read next.
        if (!(err instanceof WorkflowExecutionAlreadyStartedError)) throw err;
      }
    }
  }

  /**
   * The server's time, in milliseconds since 1970: a claim under a name of its own shows it. For comparisons with other times
   * of the server, since the clock of a machine may be wrong by hours.
   */
  async serverTime(facts: ClaimFacts): Promise<number> {
    // A name of its own: one that could not be freed would show the time of long ago.
    const key = `time.${facts.instance}.${randomUUID()}`;
    const claim = await this.make(key, facts, TIME_TOLD);
    await this.free(key, claim, 'it has told the time');
    return claim.since.getTime();
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
