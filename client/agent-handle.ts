// One agent, as clients see it.
import { randomUUID } from 'node:crypto';
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type Client,
  type WorkflowHandle,
} from '@temporalio/client';
import { CancelledFailure, TerminatedFailure } from '@temporalio/common';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentInput, AgentResult, AgentState, Message, TranscriptPage } from '../contracts/agent';
import { HoldfastError } from '../contracts/errors';
import { fromFailure } from '../contracts/failure';
import { MAIN_TASK_QUEUE, agentWorkflowId, turnWorkflowId } from '../contracts/ids';
import { label } from '../contracts/labels';
import { AGENT_MESSAGES, WORKFLOWS, WORKFLOW_TASK_TIMEOUT } from '../contracts/messages';
import { agentInputSchema, sendSchema, stopSchema } from '../contracts/schemas/agent';
import { parseWith } from '../contracts/schemas/parse';
import { deliver, type Delivery } from './deliver';

const FOLLOW_MS = 150;
/** In the agent's memo: which call started it. */
const START_ID = 'startId';

/** A message as it appears, with the number of its turn and its place in it. */
export interface FollowedMessage {
  turn: number;
  index: number;
  message: Message;
}

export class AgentHandle {
  readonly workflowId: string;
  private readonly delivery: Delivery;

  constructor(
    private readonly client: Client,
    readonly id: string,
    address: string,
  ) {
    this.workflowId = agentWorkflowId(id);
    this.delivery = { client, address, workflowId: this.workflowId, needsWorker: true, what: 'The agent' };
  }

  /** Throws `invalid_input`, or `id_conflict` when an agent of this id runs. */
  async start(input: AgentInput): Promise<void> {
    const checked = parseWith(agentInputSchema, 'The input of agent', input);
    // Tells our own first attempt, whose answer was lost, from another agent of this id.
    const startId = randomUUID();
    await deliver(this.delivery, async () => {
      try {
        await this.client.workflow.start(WORKFLOWS.agent, {
          workflowId: this.workflowId,
          taskQueue: MAIN_TASK_QUEUE,
          workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
          args: [checked],
          staticSummary: label(input.task ?? 'a conversation'),
          memo: { [START_ID]: startId },
        });
      } catch (err) {
        if (!(err instanceof WorkflowExecutionAlreadyStartedError)) throw err;
        const { memo } = await this.handle.describe();
        if (memo?.[START_ID] !== startId) throw new HoldfastError('id_conflict', { got: this.id });
      }
    });
  }

  /** The agent's result, however long that takes. Throws what a task failed with. */
  async result(): Promise<AgentResult> {
    return deliver({ ...this.delivery, needsWorker: false }, async () => {
      try {
        return (await this.handle.result()) as AgentResult;
      } catch (err) {
        if (!(err instanceof WorkflowFailedError)) throw err;
        throw fromFailure(err.cause) ?? new HoldfastError('agent_ended', { agent: this.id, how: endOf(err) });
      }
    });
  }

  /** One more message; answers with its turn's result. */
  async send(message: string, id: string = randomUUID()): Promise<AgentResult> {
    const request = parseWith(sendSchema, 'The message', { message });
    return deliver(this.delivery, () =>
      this.handle.executeUpdate<AgentResult, [object]>(AGENT_MESSAGES.send, {
        args: [request],
        updateId: id,
      }),
    );
  }

  /** Ends the turn, closes the sessions, ends the agent. */
  async stop(reason?: string): Promise<void> {
    const request = parseWith(stopSchema, 'The stop request', reason === undefined ? {} : { reason });
    await deliver(this.delivery, () => this.handle.signal(AGENT_MESSAGES.stop, request));
  }

  state(): Promise<AgentState> {
    return deliver(this.delivery, () => this.handle.query<AgentState>(AGENT_MESSAGES.state));
  }

  /** The messages of the turns that have ended: `limit` of them, or as many as there are behind `from`. */
  async transcript(from = 0, limit = 100): Promise<TranscriptPage> {
    const messages: Message[] = [];
    for (;;) {
      const rest = { from: from + messages.length, limit: limit - messages.length };
      const page = await deliver(this.delivery, () =>
        this.handle.query<TranscriptPage, [object]>(AGENT_MESSAGES.transcript, rest),
      );
      messages.push(...page.messages);
      // Pages end by bytes: a short one is no sign of the end, an empty one is.
      if (page.messages.length === 0 || messages.length >= limit) return { messages, total: page.total };
    }
  }

  /** Every message as it is recorded, until the agent has ended or `signal` aborts. Costs no history. */
  async *follow(signal?: AbortSignal): AsyncGenerator<FollowedMessage> {
    for (let turn = 1, index = 0; !signal?.aborted;) {
      const { turns, currentTurn, status } = await this.state();
      const isOver = turn < turns || (turn === turns && currentTurn === null);
      const page = turn <= turns ? await this.turnMessages(turn, index) : undefined;
      for (const message of page?.messages ?? []) yield { turn, index: index++, message };
      if (isOver && page && index >= page.total) {
        turn += 1;
        index = 0;
      } else if (status === 'ended' && turn > turns) {
        return;
      } else if (!page || index >= page.total) {
        await delay(FOLLOW_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  private async turnMessages(turn: number, from: number): Promise<TranscriptPage | undefined> {
    const workflowId = turnWorkflowId(this.id, turn);
    const handle = this.client.workflow.getHandle(workflowId);
    try {
      return await deliver({ ...this.delivery, workflowId, what: 'The turn' }, () =>
        handle.query<TranscriptPage, [object]>(AGENT_MESSAGES.transcript, { from }),
      );
    } catch (err) {
      // It is about to be started.
      if (err instanceof HoldfastError && err.code === 'not_found') return undefined;
      throw err;
    }
  }

  private get handle(): WorkflowHandle {
    return this.client.workflow.getHandle(this.workflowId);
  }
}

/** How an agent ended that could not say so itself. */
function endOf({ cause, message }: WorkflowFailedError): string {
  if (cause instanceof CancelledFailure) return 'it was cancelled';
  if (cause instanceof TerminatedFailure) return `it was terminated: ${cause.message}`;
  return cause?.message ?? message;
}
