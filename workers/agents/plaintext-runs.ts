// Runs of workflows that are never ended (the quota, webhooks, hosts) and that began before encryption was required: a worker
// that requires it cannot go on with them, ever. They are ended, and begin anew when they are next needed.
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { listWorkflows } from '../../client/delivery/list-workflows';
import { canSeal, requiresSeals } from '../../client/delivery/sealing';
import type { QuotaCounter } from '../../client/quota-counter';
import { WORKFLOWS } from '../../contracts/messages';
import { encodingOf, SEALED_ENCODING } from '../../encryption/sealed-payload';

/** Never encrypted, or never read again. */
const NOT_READ = ['searchAttributes', 'header', 'userMetadata', 'markerRecordedEventAttributes'];

export interface PlaintextRunsOptions {
  client: Client;
  /** The agents' queue. */
  queue: string;
  /** Null where none is counted: in the namespace of a host. */
  quota: Pick<QuotaCounter, 'restart'> | null;
  warn: (message: string, facts: object) => void;
}

export async function endPlaintextRuns({ client, queue, quota, warn }: PlaintextRunsOptions): Promise<void> {
  // Most deployments have no keys: their workers ask nothing.
  if (!canSeal(client)) return;
  const types = [WORKFLOWS.quota, WORKFLOWS.webhook, WORKFLOWS.host].map((type) => `"${type}"`).join(', ');
  const query = `WorkflowType IN (${types}) AND TaskQueue = "${queue}" AND ExecutionStatus = "Running"`;
  for await (const run of listWorkflows(client, { query })) {
    const { workflowId, runId, type } = run;
    if (!requiresSeals(client, workflowId) || !(await hasPlaintext(client, run))) continue;
    const reason = 'it began before encryption was required';
    if (quota && type === WORKFLOWS.quota) await quota.restart();
    else await client.workflow.getHandle(workflowId, runId).terminate(reason);
    warn('a workflow that cannot go on was ended, and begins anew when it is needed', { workflowId, reason });
  }
}

/** A run may have begun with encryption and have got a message of a client without. */
async function hasPlaintext(
  { workflowService, options: { namespace } }: Client,
  { workflowId, runId }: WorkflowExecutionInfo,
): Promise<boolean> {
  const execution = { workflowId, runId };
  let nextPageToken: Uint8Array | null | undefined;
  do {
    const request = { namespace, execution, ...(nextPageToken && { nextPageToken }) };
    const page = await workflowService.getWorkflowExecutionHistory(request);
    if (holdsPlaintext(page.history?.events)) return true;
    ({ nextPageToken } = page);
  } while (nextPageToken && nextPageToken.length > 0);
  return false;
}

/** Whether any payload in it is not encrypted. */
function holdsPlaintext(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return false;
  if (isPayload(value)) return encodingOf(value) !== SEALED_ENCODING;
  return Object.entries(value).some(([name, one]) => !NOT_READ.includes(name) && holdsPlaintext(one));
}

const isPayload = (value: object): value is Payload =>
  'metadata' in value && 'data' in value && value.data instanceof Uint8Array;
