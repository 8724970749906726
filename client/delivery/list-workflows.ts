// Lists and describes workflows. The client's own list ends with an error at the first workflow whose memo cannot be read
// here, for example because another team's key has sealed it; so does its description, even of one that has ended.
import {
  WorkflowNotFoundError,
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
} from '@temporalio/client';
// The client's own reading of a raw entry.
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { missingNamespace } from '../../contracts/errors/server-away';
import { grpcCode, NOT_FOUND } from './grpc-code';
import { answered } from './request-failure';

type RawInfo = Parameters<typeof executionInfoFromRaw>[0];

/**
 * Pages are read as the iteration needs them. An entry whose memo cannot be read here has none. Throws
 * `namespace_missing` and `no_server`.
 */
export async function* listWorkflows(
  client: Client,
  { query, pageSize }: { query: string; pageSize?: number },
): AsyncGenerator<WorkflowExecutionInfo> {
  const { namespace } = client.options;
  const request = { namespace, query, ...(pageSize !== undefined && { pageSize }) };
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const asked = { ...request, nextPageToken };
    const page = await answered(() => client.workflowService.listWorkflowExecutions(asked));
    for (const raw of page.executions) yield await readListed(client, raw);
    ({ nextPageToken } = page);
  } while (nextPageToken.length > 0);
}

export async function readListed({ options }: Client, raw: RawInfo): Promise<WorkflowExecutionInfo> {
  const { namespace, loadedDataConverter } = options;
  try {
    return await executionInfoFromRaw(raw, loadedDataConverter, raw, namespace);
  } catch (err) {
    if (!raw.memo) throw err;
    // With what it inherits: a running one has no length of its own.
    const bare = Object.create(raw, { memo: { value: null } }) as RawInfo;
    return executionInfoFromRaw(bare, loadedDataConverter, raw, namespace);
  }
}

/** The part of a description that the server itself knows. */
export type DescribedWorkflow = WorkflowExecutionInfo & Pick<WorkflowExecutionDescription, 'raw'>;

/** One whose memo cannot be read here has none. Throws `WorkflowNotFoundError`. */
export async function describeWorkflow(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<DescribedWorkflow> {
  const { namespace } = client.options;
  try {
    const raw = await client.workflowService.describeWorkflowExecution({
      namespace,
      execution: { workflowId, ...(runId !== undefined && { runId }) },
    });
    return { ...(await readListed(client, raw.workflowExecutionInfo ?? {})), raw };
  } catch (err) {
    if (grpcCode(err) !== NOT_FOUND || missingNamespace(err)) throw err;
    throw new WorkflowNotFoundError(reasonOf(err), workflowId, runId);
  }
}
