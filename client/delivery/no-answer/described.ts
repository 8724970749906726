// A workflow as the server describes it.
import { isGrpcDeadlineError, type Client } from '@temporalio/client';
import { HoldfastError, reasonOf } from '../../../contracts/errors/holdfast-error';
import type { ServerFacts } from '../../server-facts';

export type Described = Awaited<ReturnType<Client['workflowService']['describeWorkflowExecution']>>;

/**
 * Undefined if the server does not know the workflow, or cannot say. As the server says it: to decode memo, attributes and
 * summary, which is not read here, costs as much as the request.
 * @param ofFrozen throws `no_server` if it does not answer in time, where the client has a deadline for that
 */
export const describe = (
  client: Client,
  workflowId: string,
  ofFrozen?: ServerFacts,
): Promise<Described | undefined> =>
  client.workflowService
    .describeWorkflowExecution({ namespace: client.options.namespace, execution: { workflowId } })
    .catch((err: unknown) => {
      if (ofFrozen && isGrpcDeadlineError(err))
        throw new HoldfastError('no_server', { address: ofFrozen.address, reason: reasonOf(err) });
      return undefined;
    });

export const queueOf = (found: Described | undefined): string | undefined =>
  found?.workflowExecutionInfo?.taskQueue ?? undefined;
