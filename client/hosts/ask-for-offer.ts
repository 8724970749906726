// Asks the agents' worker which of its tools scripts on a host without agents may call.
import { asSummary } from '../../contracts/text/labels';
import { checkedId } from '../../contracts/ids';
import { WORKFLOWS, WORKFLOW_TASK_TIMEOUT } from '../../contracts/messages';
import type { OfferRequest, ToolsOffer } from '../../contracts/tools/offered-tools';
import { toolsOfferSchema } from '../../contracts/schemas/tools';
import { parseWith } from '../../contracts/schemas/parse';
import type { HoldfastClient } from '../holdfast-client';
import { workflowResult } from '../delivery/workflow-result';

/** Without a worker the question stays open this long, so that the next worker answers it at once. */
const OPEN_FOR = '5 minutes';

/** Waits until a worker has answered. Throws if none has in five minutes; repeated meanwhile, it is the same question. */
export function askForOffer(
  { temporal: client, server }: HoldfastClient,
  host: string,
  request: OfferRequest,
  signal: AbortSignal,
): Promise<ToolsOffer> {
  const workflowId = `tools/${checkedId('host', host)}`;
  return client.withAbortSignal(signal, async () => {
    await client.workflow.start(WORKFLOWS.offeredTools, {
      workflowId,
      taskQueue: server.queue,
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
      workflowExecutionTimeout: OPEN_FOR,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [request],
      staticSummary: asSummary(`tools for the scripts of ${host}`),
    });
    return parseWith(toolsOfferSchema, 'The offer of the agents', await workflowResult(client, workflowId));
  });
}
