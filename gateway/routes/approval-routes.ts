// Pending approvals, and the answers to them.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { OpenQuestion } from '../../contracts/agents/questions';
import { approval } from '../../contracts/schemas/answers';
import * as shapes from '../../contracts/schemas/http-api';
import { agentOf, keyed, readKey } from '../approval-keys';
import { mayUse, requireAgent, type Caller } from '../access/grants';
import { route } from '../http/route';

const tag = 'approvals';

function placeOf(key: string, caller: Caller): Pick<OpenQuestion, 'workflowId' | 'id'> {
  const place = readKey(key);
  requireAgent(caller, agentOf(place.workflowId));
  return place;
}

const list = route(
  {
    name: 'listApprovals',
    ...{ method: 'GET', path: '/v1/approvals', tag, role: 'viewer' },
    summary: 'What waits for an approval, oldest first',
    query: shapes.ofAgentQuery,
    answer: shapes.approvalPage,
  },
  async ({ query: { agent }, caller, context }) => {
    if (agent !== undefined) requireAgent(caller, agent);
    const covers = (workflowId: string): boolean => mayUse(caller, agentOf(workflowId));
    const { waiting, unanswered, unread } = await context.client.approvals.listAnswering({ agent, covers });
    return {
      items: waiting.map(keyed),
      next: null,
      unanswered: unanswered.map(({ workflowId }) => workflowId),
      unread,
    };
  },
);

const whole = route(
  {
    name: 'getApproval',
    ...{ method: 'GET', path: '/v1/approvals/{key}', tag, role: 'viewer' },
    summary: 'One approval in full, however long its code is',
    answer: shapes.keyedApproval,
  },
  async ({ params: { key }, caller, context }) => {
    const place = placeOf(key, caller);
    const found = await context.client.approvals.whole(place);
    if (found) return keyed(found);
    throw new HoldfastError('approval_unknown', { got: place.id, allowed: 'one that is pending' });
  },
);

const approve = route(
  {
    name: 'approve',
    ...{ method: 'POST', path: '/v1/approvals/{key}/approve', tag, role: 'operator' },
    summary: 'Approve what has this hash; it runs',
    body: shapes.approveBody,
    answer: approval,
    example: { hash: '0'.repeat(64) },
  },
  ({ params, body: { hash, scope }, caller, context }) => {
    const { workflowId, id } = placeOf(params.key, caller);
    return context.client.approvals.approve(workflowId, {
      id,
      hash,
      by: caller.name,
      ...(scope && { scope }),
    });
  },
);

const deny = route(
  {
    name: 'deny',
    ...{ method: 'POST', path: '/v1/approvals/{key}/deny', tag, role: 'operator' },
    summary: 'Deny it; the model is told why',
    body: shapes.denyBody,
    answer: approval,
    example: { reason: 'not on this machine' },
  },
  ({ params, body: { reason }, caller, context }) => {
    const { workflowId, id } = placeOf(params.key, caller);
    return context.client.approvals.deny(workflowId, { id, by: caller.name, ...(reason && { reason }) });
  },
);

export const APPROVAL_ROUTES = [list, whole, approve, deny];
