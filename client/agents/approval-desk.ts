// Pending approvals in sessions and turns, and the answers to them.
import { randomUUID } from 'node:crypto';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { ApproveRequest, DenyRequest } from '../../contracts/schemas/approvals';
import type { Approval } from '../../contracts/tools/approvals';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { LOCAL_HOST, parseSessionWorkflowId } from '../../contracts/ids';
import { WORKFLOWS } from '../../contracts/messages';
import type { Message } from '../../contracts/messages/message';
import { APPROVAL_MESSAGES as MESSAGES } from '../../contracts/messages/to-askers';
import type { OpenQuestion } from '../../contracts/agents/questions';
import { parseRequest } from '../../contracts/schemas/parse-request';
import { asJson } from '../../contracts/text/as-json';
import { askEach, LATE_MS } from '../delivery/ask-each';
import { deliver, type Delivery } from '../delivery/deliver';
import type { ServerFacts } from '../server-facts';
import type { HostNamespaces, Unread } from '../hosts/host-namespaces';
import { queryHost } from '../hosts/query-host';
import { inTime } from './agent-overview';
import { ofAgent, openWorkflows, publishedToWait } from './list-open';

/** A pending approval, and the session or the turn that waits for it. */
export type WaitingApproval = OpenQuestion;

const byAge = (a: WaitingApproval, b: WaitingApproval): number => a.askedAt.localeCompare(b.askedAt);

interface Listed {
  client: Client;
  one: WorkflowExecutionInfo;
}

const ASKERS = [WORKFLOWS.execSession, WORKFLOWS.turn];

export interface ListAnsweringRequest {
  agent?: string | undefined;
  /** Only workflows with these ids are asked. */
  covers?: ((workflowId: string) => boolean) | undefined;
}

export interface AnsweredApprovals {
  waiting: WaitingApproval[];
  /** Sessions and turns of which it is not known whether they wait, and why. */
  unanswered: { workflowId: string; error: HoldfastError }[];
  /** Namespaces of hosts that could not be read: what waits there is missing. */
  unread: string[];
}

export class ApprovalDesk {
  constructor(
    private readonly namespaces: HostNamespaces,
    private readonly server: ServerFacts,
  ) {}

  /**
   * The pending approvals of all agents or of one, oldest first. Asks every open session and turn. Throws `worker_silent`,
   * `no_worker`, `no_server` or whatever else kept one from answering, rather than say that nothing waits.
   */
  async list(agent?: string): Promise<WaitingApproval[]> {
    const { waiting, silent } = await this.listPatiently({ agent });
    const [first] = silent;
    if (first && waiting.length === 0) throw first.reason;
    return waiting;
  }

  /**
   * The same, however long each takes to answer, with the workflows and namespaces that could not be asked and may keep
   * more.
   */
  async listPatiently(
    request: ListAnsweringRequest = {},
  ): Promise<{ waiting: WaitingApproval[]; silent: { what: string; reason: unknown }[] }> {
    const { asked, unread } = await this.openAskers(request);
    const waiting: WaitingApproval[] = [];
    const silent: { what: string; reason: unknown }[] = [];
    await Promise.all(
      asked.map(async ({ workflowId }) => {
        try {
          waiting.push(...(await this.of(workflowId).catch(noneIfEnded)));
        } catch (err) {
          silent.push({ what: workflowId, reason: errorOf(workflowId, err) });
        }
      }),
    );
    for (const { namespace, reason } of unread)
      if (!isGone(reason)) silent.push({ what: `namespace ${namespace}`, reason });
    return { waiting: waiting.sort(byAge), silent };
  }

  /**
   * The same of those that answer within five seconds, with those that do not. Throws where none does because the server
   * is away, or this folder's own worker is silent.
   */
  async listAnswering(request: ListAnsweringRequest = {}): Promise<AnsweredApprovals> {
    const { asked, unread } = await this.openAskers(request);
    const { answers, unanswered } = await askEach(asked, ({ workflowId }) =>
      this.of(workflowId).catch(noneIfEnded),
    );
    const silent = unanswered.map(({ one: { workflowId }, reason }) => ({
      workflowId,
      error: errorOf(workflowId, reason),
    }));
    const [first] = silent;
    if (first && answers.length === 0 && silent.every(({ error }) => isOfAll(error))) throw first.error;
    return { waiting: answers.flat().sort(byAge), unanswered: silent, unread: namesOf(unread) };
  }

  /**
   * The same of all agents, but asks only those that have published that they wait: one that began to wait less
   * than a second ago may be missing. `unanswered` are the workflows that do not answer within three seconds, or have
   * ended meanwhile; `unread` the namespaces of hosts that could not be read.
   */
  async listPublished(): Promise<{ waiting: WaitingApproval[]; unanswered: string[]; unread: string[] }> {
    const { namespaces } = this;
    const { found, unread } = await namespaces.found((client) => publishedToWait(client, ASKERS, 'approval'));
    const answers = await Promise.all(
      (await this.atHome(found)).map(async ({ client, workflowId }) => ({
        workflowId,
        waiting: await inTime(client, () => this.of(workflowId)),
      })),
    );
    return {
      waiting: answers.flatMap(({ waiting }) => waiting ?? []).sort(byAge),
      unanswered: answers.filter(({ waiting }) => waiting === null).map(({ workflowId }) => workflowId),
      unread: namesOf(unread),
    };
  }

  private async openAskers({
    agent,
    covers = () => true,
  }: ListAnsweringRequest): Promise<{ asked: { workflowId: string }[]; unread: Unread[] }> {
    const own = ofAgent(agent);
    const { found, unread } = await this.namespaces.found((client) => openWorkflows(client, ASKERS, own));
    const asked = await this.atHome(found);
    return { asked: asked.filter(({ workflowId }) => covers(workflowId)), unread };
  }

  private async atHome(listed: readonly Listed[]): Promise<{ client: Client; workflowId: string }[]> {
    const asked: { client: Client; workflowId: string }[] = [];
    for (const { client, one } of listed)
      if (await this.namespaces.isHome(client, one.workflowId))
        asked.push({ client, workflowId: one.workflowId });
    return asked;
  }

  /** One approval in full, however long its code or its arguments are. */
  async whole({
    workflowId,
    id,
  }: Pick<WaitingApproval, 'workflowId' | 'id'>): Promise<WaitingApproval | undefined> {
    const [one] = await queryHost(await this.delivery(workflowId), MESSAGES.approvals, { id });
    return one?.id === id ? { ...one, workflowId } : undefined;
  }

  /** The pending approvals of one session or turn. */
  async of(workflowId: string): Promise<WaitingApproval[]> {
    const waiting = await queryHost(await this.delivery(workflowId), MESSAGES.approvals);
    return waiting.map((one) => ({ ...one, workflowId }));
  }

  /** Approves; the code runs. Throws `approval_unknown`, and `approval_changed` for another hash. */
  approve(workflowId: string, request: ApproveRequest = {}): Promise<Approval> {
    return this.answer(workflowId, MESSAGES.approve, request);
  }

  /** Denies; the asker gets the reason. Throws `approval_unknown`. */
  deny(workflowId: string, request: DenyRequest = {}): Promise<Approval> {
    return this.answer(workflowId, MESSAGES.deny, request);
  }

  private async answer<Request>(
    workflowId: string,
    message: Message<Request, Approval, 'update'>,
    request: Request,
  ): Promise<Approval> {
    const args: [Request] = [parseRequest(message, request)];
    const updateId = randomUUID();
    const to = await this.delivery(workflowId);
    const handle = to.client.workflow.getHandle(workflowId);
    return deliver(to, () => handle.executeUpdate<Approval, [Request]>(message.name, { args, updateId }));
  }

  private async delivery(workflowId: string): Promise<Delivery> {
    const { server, namespaces } = this;
    if (typeof workflowId !== 'string' || workflowId === '')
      throw new HoldfastError('invalid_input', {
        what: 'The workflow id',
        got: asJson(workflowId),
        allowed: 'the `workflowId` of what waits, as `approvals.list()` gives it',
      });
    const client = await namespaces.clientOf(parseSessionWorkflowId(workflowId)?.host ?? LOCAL_HOST);
    return { client, server, workflowId, needsWorker: true, what: 'What waits' };
  }
}

/** What has ended waits for none. One whose query fails may well wait. */
function noneIfEnded(err: unknown): WaitingApproval[] {
  if (err instanceof HoldfastError && err.code === 'not_found') return [];
  throw err;
}

const namesOf = (unread: readonly Unread[]): string[] => unread.map(({ namespace }) => namespace);

/** Nothing waits in a namespace that does not exist. */
const isGone = (err: unknown): boolean => err instanceof HoldfastError && err.code === 'namespace_missing';

function errorOf(workflowId: string, reason: unknown): HoldfastError {
  if (reason instanceof HoldfastError) return reason;
  return reason === undefined
    ? new HoldfastError('deadline', { what: `Workflow ${workflowId}`, waitedMs: LATE_MS })
    : new HoldfastError('internal', { reason: reasonOf(reason) });
}

/** Whether the fault is that of no single workflow. */
const isOfAll = ({ code, facts }: HoldfastError): boolean =>
  code === 'no_server' || (code === 'worker_silent' && facts.pid !== undefined);
