// Lists open workflows from the server's visibility store.
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { WaitsFor } from '../../contracts/agents/waits';
import { checkedId } from '../../contracts/ids';
import { SEARCH_ATTRIBUTES } from '../../contracts/messages';
import { listWorkflows } from '../delivery/list-workflows';
import { lacksAttribute } from '../delivery/with-attributes';

/** @param and a further condition, ` AND ...` */
export async function openWorkflows(
  client: Client,
  types: readonly string[],
  and = '',
): Promise<WorkflowExecutionInfo[]> {
  const names = types.map((type) => `"${type}"`).join(', ');
  const query = `WorkflowType IN (${names}) AND ExecutionStatus = "Running"${and}`;
  const found: WorkflowExecutionInfo[] = [];
  for await (const info of listWorkflows(client, { query })) found.push(info);
  return found;
}

/** The condition that narrows a query to one agent; throws `invalid_input` for what is no id: it would ask something else. */
export const ofAgent = (agent: string | undefined): string =>
  agent === undefined ? '' : ` AND ${SEARCH_ATTRIBUTES.agent} = "${checkedId('agent', agent)}"`;

/** Those that have published that they wait for this, and those that publish nothing: the server lacked the attribute. */
export async function publishedToWait(
  client: Client,
  types: readonly string[],
  waitsFor: WaitsFor,
): Promise<WorkflowExecutionInfo[]> {
  const { waitsFor: attribute } = SEARCH_ATTRIBUTES;
  try {
    return await openWorkflows(client, types, ` AND (${attribute} = "${waitsFor}" OR ${attribute} IS NULL)`);
  } catch (err) {
    // The server lacks the attribute.
    if (lacksAttribute(err)) return openWorkflows(client, types);
    throw err;
  }
}
