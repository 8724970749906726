// The messages of sessions and turns about what waits for an approval there; the agent forwards its own to them.
import type { ApproveRequest, DenyRequest } from '../schemas/approvals';
import type { Approval, ApprovalsRequest } from '../tools/approvals';
import { query, signalOrUpdate } from './message';

export const APPROVAL_MESSAGES = {
  approve: signalOrUpdate<ApproveRequest, Approval>({
    name: 'approve',
    from: 'anyone',
    does: 'Approve what is waiting, with "scope":"session" all of this kind',
    examples: [{ id: '…', hash: '…' }, { scope: 'session' }],
    request: { schema: 'approveSchema', what: 'The approval' },
    answer: 'approval',
  }),
  deny: signalOrUpdate<DenyRequest, Approval>({
    name: 'deny',
    from: 'anyone',
    does: 'Deny what is waiting',
    examples: [{}, { id: '…', reason: 'not here' }],
    request: { schema: 'denySchema', what: 'The refusal' },
    answer: 'approval',
  }),
  approvals: query<ApprovalsRequest, Approval[]>({
    name: 'approvals',
    from: 'anyone',
    does: 'What is waiting for approval, with an id that one in full, however long it is',
    examples: [{}, { id: '…' }],
    request: { schema: 'approvalsSchema', what: 'The approvals request' },
    answer: 'approvalList',
  }),
};
