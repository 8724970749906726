// The worker of task queue `holdfast`: all workflows, and the activities of agents.
import type { DataConverter } from '@temporalio/common';
import { Worker, type InjectedSinks, type NativeConnection } from '@temporalio/worker';
import { createAgentActivities, type AgentDependencies } from '../../activities/agents/agent-activities';
import { Transcripts } from '../../activities/agents/transcripts';
import { createOfferActivities } from '../../activities/tools/offer-tools';
import { createToolActivities, type ToolDependencies } from '../../activities/tools/tool-activities';
import {
  createWebhookActivities,
  type WebhookDependencies,
} from '../../activities/webhooks/webhook-activities';
import type { Tracing } from '../../activities/traced-activity';
import type { SpanSinks } from '../../workflows/messages/traced';
import { activityInterceptors } from '../telemetry/activity-interceptors';
import { activatesPatch } from '../search-attributes';
import type { TaskJournal } from '../process/task-journal';
import { stopsWithin } from '../worker-stop';
import type { Deployment } from './deployment';
import { SLOTS } from './worker-slots';
import { workflowBundle } from '../workflow-bundle';

export interface AgentWorkerOptions
  extends Omit<AgentDependencies, 'transcripts'>, Omit<ToolDependencies, 'host'> {
  connection: NativeConnection;
  namespace: string;
  dataConverter: DataConverter | undefined;
  journal: TaskJournal;
  queue: string;
  /** Publishes to other workers of the queue what this one offers. */
  identity: string;
  /** Undefined: it polls without a version. */
  deployment: Deployment | undefined;
  /** Whether the server has the search attributes that workflows set by themselves. */
  hasAttributes: boolean;
  webhooks: WebhookDependencies;
  /** How long its steps may take to end once it is asked to stop, in milliseconds. */
  drainMs?: number | undefined;
  /** Null: no traces are wanted. */
  tracing: Tracing | null;
}

/** Workflows report spans whenever a trace comes to them, wanted here or not. */
const spanSinks = (tracing: Tracing | null): InjectedSinks<SpanSinks> => ({
  holdfastSpans: { report: { fn: (_, span) => tracing?.reportSpan(span), callDuringReplay: false } },
});

export function createAgentWorker({
  connection,
  namespace,
  dataConverter,
  journal,
  queue,
  identity,
  deployment,
  hasAttributes,
  webhooks,
  drainMs,
  tracing,
  ...dependencies
}: AgentWorkerOptions): Promise<Worker> {
  const transcripts = new Transcripts(dependencies.client);
  return Worker.create({
    connection,
    namespace,
    taskQueue: queue,
    identity,
    ...(dataConverter && { dataConverter }),
    workflowBundle: workflowBundle(dataConverter),
    ...(deployment && { workerDeploymentOptions: deployment.workerOptions }),
    patchActivationCallback: activatesPatch(hasAttributes),
    activities: {
      ...createAgentActivities({ ...dependencies, transcripts }),
      ...createToolActivities({ ...dependencies, host: null }),
      ...createOfferActivities(dependencies),
      ...createWebhookActivities(webhooks),
    },
    ...SLOTS,
    // By the heartbeat's answer a tool learns that it is not waited for any more.
    maxHeartbeatThrottleInterval: '2s',
    // A task scheduled while no worker is alive waits this long for the dead one's cache.
    stickyQueueScheduleToStartTimeout: '2s',
    ...stopsWithin(drainMs),
    sinks: { ...transcripts.sinks, ...dependencies.cancelled.sinks, ...spanSinks(tracing) },
    interceptors: { activity: activityInterceptors(journal, tracing) },
  });
}
