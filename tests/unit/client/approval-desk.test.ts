// Approvals of workflows that do not answer.
import { QueryNotRegisteredError, type Client } from '@temporalio/client';
import { ApprovalDesk } from '../../../client/agents/approval-desk';
import { HostNamespaces } from '../../../client/hosts/host-namespaces';
import { sessionWorkflowId } from '../../../contracts/ids';
import { FakeServer } from '../../helpers/engines/fake-server';

const workflowId = sessionWorkflowId({ agent: 'a', host: 'local', session: 0 });

/** The desk of a server on which one session is open, which answers a query like this. */
function deskWith(answer: () => Promise<unknown>): ApprovalDesk {
  const { client } = new FakeServer({ [workflowId]: { status: 'RUNNING' } });
  const workflowService = {
    ...client.workflowService,
    listWorkflowExecutions: async () => {
      const execution = { workflowId };
      const { workflowExecutionInfo } = await client.workflowService.describeWorkflowExecution({ execution });
      return { executions: [workflowExecutionInfo], nextPageToken: new Uint8Array() };
    },
  };
  const asked = { ...client, workflowService, workflow: { getHandle: () => ({ query: answer }) } } as object;
  const withAbortSignal = (_: AbortSignal, send: () => unknown): unknown => send();
  const own = { ...asked, withAbortSignal } as Client;
  const server = { address: 'nowhere', queue: 'holdfast' };
  return new ApprovalDesk(new HostNamespaces(own, server), server);
}

/** As the SDK calls every query that fails. */
const failing = (message: string) => (): Promise<never> =>
  Promise.reject(new QueryNotRegisteredError(message, 3));

test.each<[string, () => Promise<unknown>, string?]>([
  ['cannot be asked', () => Promise.reject(new Error('refused'))],
  ['cannot be replayed', failing('[TMPRL1100] Nondeterminism error')],
  ['answers in another shape', () => Promise.resolve([{}]), 'answer_invalid'],
])(
  'a session that %s is never told as one in which nothing waits',
  async (_what, answer, code = 'internal') => {
    const desk = deskWith(answer);
    await expect(desk.list()).rejects.toMatchObject({ code });
    await expect(desk.listAnswering()).resolves.toMatchObject({ waiting: [], unanswered: [{ workflowId }] });
  },
);
