// The workflows of webhooks: one for each, on the agents' queue.
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { WORKFLOW_TASK_TIMEOUT, WORKFLOWS } from '../../contracts/messages';
import { WEBHOOK_MESSAGES } from '../../contracts/messages/to-webhooks';
import { asSummary } from '../../contracts/text/labels';
import {
  webhookWorkflowId,
  type WebhookEntry,
  type WebhookHeld,
  type WebhookInput,
} from '../../contracts/webhooks';
import { ask } from '../agents/agent-overview';
import { deliver } from '../delivery/deliver';
import type { ServerFacts } from '../server-facts';
import { pendingActivities, type PendingActivity } from '../delivery/pending-activity';
import { sendSignal } from '../delivery/send-message';
import type { HostNamespaces } from '../hosts/host-namespaces';

const DELIVER = 'deliverEvent';
const LOOK = 'lookForEvents';

export class WebhookWorkflows {
  constructor(
    private readonly namespaces: HostNamespaces,
    private readonly server: ServerFacts,
  ) {}

  /**
   * Starts sending, from now on.
   * @param isNew for settings that were just made: what has its id is left of another one, whose end or start went wrong,
   * and would send its past. Otherwise one that sends goes on.
   */
  async start(webhook: string, { isNew }: { isNew: boolean }): Promise<void> {
    const args: [WebhookInput] = [{ webhook }];
    await this.client.workflow.start(WORKFLOWS.webhook, {
      workflowId: webhookWorkflowId(webhook),
      taskQueue: this.server.queue,
      workflowIdConflictPolicy: isNew ? 'TERMINATE_EXISTING' : 'USE_EXISTING',
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
      staticSummary: asSummary(`webhook ${webhook}`),
      args,
    });
  }

  /**
   * Sends nothing any longer; what was not delivered is forgotten. At once, worker or not: a webhook that is made with the
   * same id has a workflow of its own. Says whether there was one.
   */
  async end(webhook: string): Promise<boolean> {
    try {
      await this.client.workflow.getHandle(webhookWorkflowId(webhook)).terminate('it was deleted');
      return true;
    } catch (err) {
      if (!(err instanceof WorkflowNotFoundError)) throw err;
      return false;
    }
  }

  /** Sends a test event with this id. Throws `not_found`. */
  async test(webhook: string, id: string): Promise<void> {
    const workflowId = webhookWorkflowId(webhook);
    const { client, server } = this;
    const to = { client, server, workflowId, needsWorker: false, what: 'The webhook' };
    await deliver(to, () => sendSignal(client.workflow.getHandle(workflowId), WEBHOOK_MESSAGES.test, { id }));
  }

  /** How many events wait for the receiver, and what it says to them. */
  async progress(webhook: string): Promise<Pick<WebhookEntry, 'waiting' | 'failing'>> {
    const { client, server, namespaces } = this;
    const workflowId = webhookWorkflowId(webhook);
    const [state, pending] = await Promise.all([
      ask({
        ...{ client, server, namespaces, workflowId },
        query: WEBHOOK_MESSAGES.state,
        what: 'The webhook',
      }),
      pendingActivities(client, workflowId).catch((err: unknown) => {
        if (err instanceof WorkflowNotFoundError) return [];
        throw err;
      }),
    ]);
    const held = state?.held ? failingAsHeld(webhook, state.held) : null;
    return {
      waiting: state?.waiting ?? null,
      failing: held ?? failing(pending, state?.waitingSince ?? null),
    };
  }

  private get client(): Client {
    return this.namespaces.main;
  }
}

function failingAsHeld(
  webhook: string,
  { since, until, times, reason }: WebhookHeld,
): NonNullable<WebhookEntry['failing']> {
  const next =
    until === null
      ? `it is gone: nothing is sent until it takes a test (POST /v1/webhooks/${webhook}/test)`
      : `it asks for a pause: nothing is sent until ${until}`;
  return { since, attempts: times, reason: `${reason}; ${next}` };
}

/**
 * The delivery or the look that was tried most often; null if none has failed yet.
 * @param waitingSince since when the event that has waited longest has done so
 */
function failing(pending: readonly PendingActivity[], waitingSince: string | null): WebhookEntry['failing'] {
  const [worst] = pending
    // A look lasts: once an attempt goes on, what ended the one before it is over.
    .filter(({ type, nextAttemptAt }) => type === DELIVER || (type === LOOK && nextAttemptAt !== null))
    .filter(({ failure }) => failure !== null)
    .sort((a, b) => b.attempt - a.attempt);
  if (!worst?.failure) return null;
  const { type, attempt, failure, since: triedAt } = worst;
  const since = (type === DELIVER ? waitingSince : null) ?? triedAt.toISOString();
  return { since, attempts: attempt, reason: failure.reason };
}
