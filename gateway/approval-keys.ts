// The ids of approvals belong to the workflow that asks, so a key names both.
import type { OpenQuestion } from '../contracts/agents/questions';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import type { KeyedApproval } from '../contracts/gateway/api';
import { parseSessionWorkflowId } from '../contracts/ids';

export const keyed = (question: OpenQuestion): KeyedApproval => ({
  ...question,
  key: Buffer.from(`${question.workflowId}\n${question.id}`).toString('base64url'),
});

/** Whose session or turn it is. */
export const agentOf = (workflowId: string): string =>
  parseSessionWorkflowId(workflowId)?.agent ?? workflowId.split('/')[1] ?? '';

/** Throws `invalid_input`. */
export function readKey(key: string): Pick<OpenQuestion, 'workflowId' | 'id'> {
  const [workflowId, id, ...rest] = Buffer.from(key, 'base64url').toString('utf8').split('\n');
  const isOurs =
    workflowId !== undefined &&
    (parseSessionWorkflowId(workflowId) !== undefined || /^agent\/[a-z0-9_-]+\/turn\/\d+$/.test(workflowId));
  if (isOurs && id && rest.length === 0) return { workflowId, id };
  throw new HoldfastError('invalid_input', {
    what: 'The key of an approval',
    got: JSON.stringify(key),
    allowed: '"key" of an entry of /v1/approvals',
  });
}
