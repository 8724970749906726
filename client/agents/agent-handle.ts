// One agent, as clients see it.
import { randomUUID } from 'node:crypto';
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  type Client,
  type WorkflowExecutionInfo,
  type WorkflowHandle,
} from '@temporalio/client';
// What Temporal's own helpers name a request by.
import {
  InternalWorkflowStartOptionsSymbol,
  type InternalWorkflowStartOptions,
} from '@temporalio/client/lib/internal';
import { TerminatedFailure } from '@temporalio/common';
import type { AgentInput, SendRequest } from '../../contracts/schemas/agent';
import type {
  AgentOverview,
  AgentResult,
  AgentState,
  Message,
  TranscriptPage,
  TranscriptRequest,
} from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { fromFailure } from '../../contracts/errors/failure';
import { shareOf } from '../../contracts/agents/shares';
import { agentWorkflowId, checkedFolder, turnWorkflowId } from '../../contracts/ids';
import { asSummary, label } from '../../contracts/text/labels';
import { contentHash, sendContent, type MessageContent } from '../../contracts/message-content';
import { messageMemo, WORKFLOWS, WORKFLOW_TASK_TIMEOUT } from '../../contracts/messages';
import type { Message as Sent } from '../../contracts/messages/message';
import { AGENT_MESSAGES as MESSAGES, TURN_MESSAGES } from '../../contracts/messages/to-agents';
import { agentInputSchema } from '../../contracts/schemas/agent';
import { parseWith } from '../../contracts/schemas/parse';
import { parseRequest } from '../../contracts/schemas/parse-request';
import type { AgentsWaitRequest, SpawnRequest } from '../../contracts/schemas/agent';
import type { AgentsWaitResult } from '../../contracts/agents/sub-agents';
import { attributesOfNewAgent } from '../../contracts/agents/work-state';
import { ask, overviewOf } from './agent-overview';
import { AgentWorkspace } from './agent-workspace';
import { followAgent, type FollowedMessage, type FollowOptions } from './follow-agent';
import { firstRunOf } from './reset-runs';
import { deliver, type Delivery } from '../delivery/deliver';
import type { ServerFacts } from '../server-facts';
import type { HostNamespaces } from '../hosts/host-namespaces';
import { grpcCode, UNIMPLEMENTED } from '../delivery/grpc-code';
import { describeWorkflow, listWorkflows } from '../delivery/list-workflows';
import { deliverQuery, sendSignal, sendUpdate } from '../delivery/send-message';
import { withAttributes, type StartAttributes } from '../delivery/with-attributes';
import { failureText, isOver } from '../delivery/workflow-end';

/** How many possible fork places an error shows. */
const SHOWN_BEGINNINGS = 20;
const SHOWN_CHARACTERS = 48;
/** Memo keys: the call that started the agent, and a hash of what it asked for. */
const START_ID = 'startId';
const START_CONTENT = 'startContent';

export interface SendOptions {
  /** Default `queue`. */
  mode?: 'queue' | 'interrupt' | undefined;
  /** Repeating the same id returns the recorded answer; with another message it throws `id_conflict`. */
  id?: string | undefined;
}

export interface ForkOptions extends Partial<Omit<AgentInput, 'from'>> {
  /** How many messages the fork starts with. */
  at?: number | undefined;
  /** Whether it works in a folder of its own, with the files of that moment. Default false: in the same folder. */
  files?: boolean | undefined;
}

export class AgentHandle {
  readonly workflowId: string;
  private readonly client: Client;
  private readonly delivery: Delivery;

  constructor(
    private readonly namespaces: HostNamespaces,
    readonly id: string,
    private readonly server: ServerFacts,
  ) {
    const client = namespaces.main;
    this.client = client;
    this.workflowId = agentWorkflowId(id);
    this.delivery = { client, server, workflowId: this.workflowId, needsWorker: true, what: 'The agent' };
  }

  /**
   * Throws `invalid_input`, or `id_conflict` if an agent with this id is running, or was started with other content under
   * this `startId`.
   * @param startId distinguishes the same start, whose answer was lost, from another agent with this id: it starts nothing, also
   * where the agent has ended meanwhile, or a later one with this id
   */
  async start(input: AgentInput, startId?: string): Promise<void> {
    await this.startOnce(parseWith(agentInputSchema, 'The input of agent', input), startId, ['start', input]);
  }

  /**
   * The agent's result, however long that takes, also over a reset. Throws the error of a failed task.
   * @param needsWorker throws `no_worker` and `worker_silent` rather than wait for a worker, too
   */
  async result({ needsWorker = false } = {}): Promise<AgentResult> {
    return deliver({ ...this.delivery, needsWorker }, async () => {
      for (let awaited: string | undefined; ;) {
        try {
          return (await this.handle.result()) as AgentResult;
        } catch (err) {
          if (!(err instanceof WorkflowFailedError)) throw err;
          const next = err.cause instanceof TerminatedFailure ? await this.laterRun() : undefined;
          if (next === undefined || next === awaited)
            throw (
              fromFailure(err.cause) ??
              new HoldfastError('agent_ended', { agent: this.id, how: failureText(err) })
            );
          // The SDK follows no reset. The run that it waits for now may be the terminated one: then it says so again.
          awaited = next;
        }
      }
    });
  }

  /** Undefined if the present run is the first since a start, and so follows no reset. */
  private async laterRun(): Promise<string | undefined> {
    const present = await describeWorkflow(this.client, this.workflowId);
    return firstRunOf(present) === present.runId ? undefined : present.runId;
  }

  /**
   * One more message; answers with its turn's result. While a turn is running, `queue`, the default, waits for its end;
   * `interrupt` cancels its model call, lets its tools finish and replaces it.
   */
  async send(message: string, { mode, id = randomUUID() }: SendOptions = {}): Promise<AgentResult> {
    return this.update(MESSAGES.send, sendRequest(message, mode, id), id);
  }

  /**
   * One more message, without waiting for the result. With an `id`, it throws `id_conflict` where the agent says that it
   * has taken another message under it; of an agent that does not answer within three seconds that is not known.
   */
  async post(message: string, { mode, id }: SendOptions = {}): Promise<void> {
    // With an id, because a signal whose acknowledgement is lost is sent again.
    const request = sendRequest(message, mode, id ?? randomUUID());
    await deliver(this.delivery, () => sendSignal(this.handle, MESSAGES.send, request));
    if (id === undefined) return;
    const { client, server, workflowId } = this.delivery;
    const to = { client, server, namespaces: this.namespaces, workflowId, what: 'The agent' };
    // It has taken what was signalled before it answers.
    const taken = await ask({ ...to, query: MESSAGES.taken, request: { id } });
    const isOther = taken && taken.hash !== null && taken.hash !== contentHash(id, sendContent(request));
    if (isOther) throw new HoldfastError('id_conflict', { got: id });
  }

  /**
   * Ends the running turn before its next step: cancels its model call, lets its tools finish. Queued messages come
   * next; the conversation continues. Resolves when the turn has ended, at once if none is running.
   */
  async interrupt(id: string = randomUUID()): Promise<AgentState> {
    return this.update(MESSAGES.interrupt, {}, id);
  }

  /**
   * Ends the turn and resets the sessions and everything in them; the conversation continues. Resolves when done. Throws
   * `unknown_outcome` if sessions could not be reset, because their host is offline, say: the turn has ended all the same.
   */
  async recover(reason?: string, id: string = randomUUID()): Promise<AgentState> {
    const said = { id, ...(reason !== undefined && { reason }) };
    return this.update(MESSAGES.recover, parseRequest(MESSAGES.recover, said), id);
  }

  /**
   * Starts the agent `id` with the first `at` messages of this conversation, by default all of them, and with its
   * settings, unless others are given. Throws `invalid_input` if `at` is not the beginning of a turn, and `no_checkpoint`
   * if the files of that moment are wanted and not known.
   */
  async fork(id: string, { at, files, ...own }: ForkOptions = {}, startId?: string): Promise<AgentHandle> {
    const { runId, messages, settings } = await this.ownState();
    const count = at ?? messages;
    await this.checkBeginning(count, messages);
    const workspace = files ? { workspace: await this.workspace.at(count) } : {};
    const from = { agent: this.id, runId, count };
    const settled = { ...settings, ...own, ...workspace, from };
    const input = parseWith(agentInputSchema, 'The input of agent', settled);
    const fork = new AgentHandle(this.namespaces, id, this.server);
    // As it was asked for: the conversation may have gone on between two attempts.
    const content: MessageContent = ['fork', this.id, at ?? null, files ?? false, own];
    await fork.startOnce(input, startId, content);
    return fork;
  }

  /** What it did to files, and how to bring an earlier state back. */
  get workspace(): AgentWorkspace {
    return new AgentWorkspace(this, this.delivery);
  }

  /** Starts a sub-agent; repeating the key finds it. Throws `agents_depth`, `agents_limit`, `tool_not_allowed`. */
  async spawn(request: SpawnRequest): Promise<string> {
    const { agentId } = await this.update(MESSAGES.spawn, parseRequest(MESSAGES.spawn, request), request.key);
    return agentId;
  }

  /** Waits for sub-agents. Throws `not_found` for an agent that is not one of this agent's. */
  async waitForAgents(request: AgentsWaitRequest, id: string = randomUUID()): Promise<AgentsWaitResult> {
    return this.update(MESSAGES.waitForAgents, parseRequest(MESSAGES.waitForAgents, request), id);
  }

  /** Ends the turn, closes the sessions, ends the agent. */
  async stop(reason?: string): Promise<void> {
    await this.signal(MESSAGES.stop, reason === undefined ? {} : { reason });
  }

  /** Puts away that its last turn failed. @param turn only if that one was the last */
  async dismiss(turn?: number): Promise<void> {
    await this.signal(MESSAGES.dismiss, turn === undefined ? {} : { turn });
  }

  private async signal<Request>(message: Sent<Request, void, 'signal'>, request: Request): Promise<void> {
    const parsed = parseRequest(message, request);
    await deliver(this.delivery, () => sendSignal(this.handle, message, parsed));
  }

  /** What it is doing: its own state, its turn's and its sessions'. `ownState` is one query instead of several. */
  async state(): Promise<AgentOverview> {
    const { client, namespaces, server } = this;
    return overviewOf({ client, namespaces, server }, await this.presentState());
  }

  /**
   * The run that the id means now, and whether it is over. Throws `not_found` for an agent that the server does not
   * know, or no longer. Needs no worker.
   */
  async run(): Promise<{ runId: string; isOver: boolean }> {
    return deliver({ ...this.delivery, needsWorker: false }, async () => {
      const described = await this.handle.describe();
      return { runId: described.runId, isOver: isOver(described) };
    });
  }

  /**
   * What the agent itself knows: not the step of its turn, nor what its sessions are doing. Of the current run or an
   * earlier one.
   */
  ownState(runId?: string): Promise<AgentState> {
    return deliverQuery(this.delivery, MESSAGES.state, undefined, runId);
  }

  /** `ownState`, which is `ended` also where the agent could not say so: it was terminated, or has timed out. */
  async presentState(): Promise<AgentState> {
    const [state, { runId, isOver }] = await Promise.all([this.ownState(), this.run()]);
    if (!isOver || state.status === 'ended') return state;
    // Anew: it may have ended between the two, and the id may mean another run by now.
    const last = await this.ownState();
    return last.runId === runId ? { ...last, status: 'ended', waits: null } : last;
  }

  /** The messages of the turns that have ended: `limit` of them, or as many as there are after `from`. */
  async transcript(from = 0, limit = 100): Promise<TranscriptPage> {
    const messages: Message[] = [];
    for (;;) {
      const rest = { from: from + messages.length, limit: limit - messages.length };
      const page = await this.page(rest);
      messages.push(...page.messages);
      // Pages are limited in bytes: a short page does not mean the end, an empty one does.
      if (page.messages.length === 0 || messages.length >= limit) return { messages, total: page.total };
    }
  }

  /** One page, from the current run or an earlier one. */
  page(request: TranscriptRequest, runId?: string): Promise<TranscriptPage> {
    return deliverQuery(this.delivery, MESSAGES.transcript, request, runId);
  }

  /**
   * Yields each message as it is recorded, until the agent has ended, however, or `signal` aborts. Turns that the server no
   * longer keeps are left out: `transcript` has their messages. Costs no history.
   */
  follow(signal?: AbortSignal, options: FollowOptions = {}): AsyncGenerator<FollowedMessage> {
    return followAgent(this, this.delivery, signal, options);
  }

  private async checkBeginning(count: number, messages: number): Promise<void> {
    const isWithin = Number.isInteger(count) && count >= 0 && count <= messages;
    const next = isWithin && count < messages ? await this.page({ from: count, limit: 1 }) : undefined;
    if (isWithin && (next === undefined || next.messages[0]?.role === 'user')) return;
    const page = await this.transcript(0, messages);
    const beginnings = page.messages.flatMap((message, index) =>
      message.role === 'user' ? [{ index, text: label(message.text, SHOWN_CHARACTERS) }] : [],
    );
    const numbers = [...beginnings.map(({ index }) => index), messages];
    const shown = beginnings
      .slice(-SHOWN_BEGINNINGS)
      .map(({ index, text }) => `${index} is before "${text}"`);
    throw new HoldfastError('invalid_input', {
      what: 'The place to fork at',
      got: count,
      allowed: `the number of a user's message or the end: ${numbers.join(', ')}`,
      next: `Name one of these: ${[...shown, `${messages} is the end`].join('; ')}. Nothing was started.`,
    });
  }

  private async startOnce(
    input: AgentInput,
    given: string | undefined,
    content: MessageContent,
  ): Promise<void> {
    checkedFolder(input.cwd);
    const startId = given ?? randomUUID();
    const memo = {
      [START_ID]: startId,
      [START_CONTENT]: contentHash(startId, content),
      ...messageMemo(input.task),
    };
    const start = (attributes: StartAttributes): Promise<unknown> => {
      const options: InternalWorkflowStartOptions = {
        ...attributes,
        workflowId: this.workflowId,
        taskQueue: this.server.queue,
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
        priority: shareOf(input.tenant ?? this.id),
        staticSummary: asSummary(input.task ?? 'a conversation'),
        memo,
        // The server answers a repeated request with the run that it made, also once that has ended.
        [InternalWorkflowStartOptionsSymbol]: { requestId: startId },
      };
      return this.client.workflow.start(WORKFLOWS.agent, { ...options, args: [input] });
    };
    await deliver(this.delivery, async () => {
      // It knows only the latest run of those that continue as new: its memo knows the start of the first.
      if (given !== undefined && (await this.isStarted(memo))) return;
      try {
        await withAttributes(attributesOfNewAgent(this.id, input.task !== undefined), start);
      } catch (err) {
        if (!(err instanceof WorkflowExecutionAlreadyStartedError)) throw err;
        if (!(await this.isStarted(memo))) throw new HoldfastError('id_conflict', { got: this.id });
      }
    });
  }

  /** Whether this start has made a run. Throws `id_conflict` if it was another one under the same id. */
  private async isStarted(own: StartMemo): Promise<boolean> {
    const latest = await this.handle.describe().catch((err: unknown) => {
      if (err instanceof WorkflowNotFoundError) return undefined;
      throw err;
    });
    if (latest === undefined) return false;
    const run = ownRun(own, latest) ? latest : await this.earlierRun(own);
    if (run && run.memo?.[START_CONTENT] !== own[START_CONTENT])
      throw new HoldfastError('id_conflict', { got: own[START_ID] });
    return run !== undefined;
  }

  /** A start that is sent again late: the agent of another one may have come and gone. */
  private async earlierRun(own: StartMemo): Promise<WorkflowExecutionInfo | undefined> {
    const query = `WorkflowId = "${this.workflowId}" AND ExecutionStatus != "ContinuedAsNew"`;
    try {
      for await (const run of listWorkflows(this.client, { query })) if (ownRun(own, run)) return run;
    } catch (err) {
      if (grpcCode(err) !== UNIMPLEMENTED) throw err;
    }
    return undefined;
  }

  private update<Request, Answer>(
    message: Sent<Request, Answer, 'update'>,
    request: Request,
    id: string,
  ): Promise<Answer> {
    const { client, workflowId } = this;
    return deliver(this.delivery, () => sendUpdate(client, workflowId, { message, request, id }));
  }

  /** One page of a turn's messages; undefined if the turn is only about to start. */
  async turnPage(turn: number, from: number): Promise<TranscriptPage | undefined> {
    const workflowId = turnWorkflowId(this.id, turn);
    const to = { ...this.delivery, workflowId, what: 'The turn' };
    try {
      return await deliverQuery(to, TURN_MESSAGES.transcript, { from });
    } catch (err) {
      // It is only about to start.
      if (err instanceof HoldfastError && err.code === 'not_found') return undefined;
      throw err;
    }
  }

  private get handle(): WorkflowHandle {
    return this.client.workflow.getHandle(this.workflowId);
  }
}

type StartMemo = Record<typeof START_ID | typeof START_CONTENT, string>;

const ownRun = (own: StartMemo, { memo }: { memo?: WorkflowExecutionInfo['memo'] }): boolean =>
  memo?.[START_ID] === own[START_ID];

const sendRequest = (message: string, mode: SendOptions['mode'], id: string): SendRequest =>
  parseRequest(MESSAGES.send, { id, message, ...(mode !== undefined && { mode }) });
