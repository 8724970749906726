// What the models of all agents of a task queue have used today: a workflow counts, one for all its workers.
import type { Client, WorkflowStartOptions } from '@temporalio/client';
import { quotaWorkflowId, type DayUse, type ModelUse } from '../contracts/models/daily-quota';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { WORKFLOW_TASK_TIMEOUT, WORKFLOWS } from '../contracts/messages';
import { QUOTA_MESSAGES } from '../contracts/messages/to-quotas';
import { asSummary } from '../contracts/text/labels';
import { deliver } from './delivery/deliver';
import type { ServerFacts } from './server-facts';
import { deliverQuery } from './delivery/send-message';

export class QuotaCounter {
  constructor(
    private readonly client: Client,
    private readonly server: ServerFacts,
  ) {}

  /** The last day on which something was used; null: nothing ever was. */
  async read(): Promise<DayUse | null> {
    try {
      return await deliverQuery({ ...this.to, needsWorker: true }, QUOTA_MESSAGES.state);
    } catch (err) {
      if (err instanceof HoldfastError && err.code === 'not_found') return null;
      throw err;
    }
  }

  /** Once the server has it; the same call again changes nothing. */
  async add(use: ModelUse): Promise<void> {
    const { client } = this;
    await deliver({ ...this.to, needsWorker: false }, () =>
      client.workflow.signalWithStart(WORKFLOWS.quota, {
        ...this.options,
        signal: QUOTA_MESSAGES.used.name,
        signalArgs: [use],
      }),
    );
  }

  /** Counts from zero, in place of a run that cannot go on. In one request: one that has ended would still be asked. */
  async restart(): Promise<void> {
    const workflowIdConflictPolicy = 'TERMINATE_EXISTING';
    await this.client.workflow.start(WORKFLOWS.quota, { ...this.options, workflowIdConflictPolicy });
  }

  private get options(): Pick<
    WorkflowStartOptions,
    'workflowId' | 'taskQueue' | 'workflowTaskTimeout' | 'staticSummary'
  > {
    const { queue } = this.server;
    return {
      workflowId: this.to.workflowId,
      taskQueue: queue,
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
      staticSummary: asSummary(`what the agents of ${queue} use in a day`),
    };
  }

  private get to(): { client: Client; server: ServerFacts; workflowId: string; what: string } {
    const { client, server } = this;
    return { client, server, workflowId: quotaWorkflowId(server.queue), what: 'The quota' };
  }
}
