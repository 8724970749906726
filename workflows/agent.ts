// `agent`: a conversation. Takes messages one after the other, runs a turn for each, owns the sessions that
// its turns opened, and closes them when it ends.
import {
  CancellationScope,
  ChildWorkflowFailure,
  condition,
  executeChild,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
  allHandlersFinished,
} from '@temporalio/workflow';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { AgentActivities } from '../contracts/activities';
import type { AgentInput, AgentResult, AgentState, Message, TurnResult } from '../contracts/agent';
import { HoldfastError, reasonOf } from '../contracts/errors';
import { toFailure } from '../contracts/failure';
import { LOCAL_HOST, checkedId, turnWorkflowId } from '../contracts/ids';
import { inMarkdown, label } from '../contracts/labels';
import { SEARCH_ATTRIBUTES, WORKFLOW_TASK_TIMEOUT } from '../contracts/messages';
import { agentInputSchema, sendSchema, stopSchema } from '../contracts/schemas/agent';
import {
  sendSignal,
  sendUpdate,
  stateQuery,
  stopSignal,
  transcriptQuery,
  type SendRequest,
} from './agent-definitions';
import type { StopRequest } from './agent-definitions';
import { agentDetails } from './agent-labels';
import { checked, refuse } from './refusal';
import { Transcript } from './transcript';
import { turn } from './turn';

const DAY_MS = 24 * 3_600_000;
const AGENT_KEY = defineSearchAttributeKey(SEARCH_ATTRIBUTES.agent, 'KEYWORD');

const { closeSessions } = proxyActivities<AgentActivities>({
  startToCloseTimeout: '2 minutes',
  retry: { maximumAttempts: 5 },
});

/** A task's result is its answer; a conversation ends with the result of its last turn. */
export async function agent(input?: AgentInput): Promise<AgentResult> {
  const settings = checked(agentInputSchema, 'The input of agent', input);
  const id = workflowInfo().workflowId.replace(/^agent\//, '');
  const conversation = new Conversation(checkedId('agent', id), settings);
  conversation.listen();
  return conversation.live();
}

interface Queued {
  message: string;
  done?: (result: AgentResult) => void;
}

class Conversation {
  private readonly transcript = new Transcript();
  private readonly queue: Queued[] = [];
  private readonly sessions = new Set<number>();
  private readonly refused: string[] = [];
  private readonly mode: 'task' | 'conversation';
  private turns = 0;
  private working = false;
  /** What the turn is at. */
  private message: string | null = null;
  private shown = { status: 'idle', since: new Date() };
  private ended = false;
  private stopReason: string | null = null;
  private lastResult: AgentResult | null = null;
  private readonly scope = new CancellationScope();

  constructor(
    private readonly id: string,
    private readonly input: AgentInput,
  ) {
    this.mode = input.mode ?? (input.task === undefined ? 'conversation' : 'task');
    if (this.mode === 'task' && input.task === undefined) {
      const allowed = 'a task in mode "task"; without a task, mode "conversation"';
      refuse('invalid_input', { what: 'The input of agent', got: 'no task', allowed });
    }
    if (input.task !== undefined) this.queue.push({ message: input.task });
    upsertSearchAttributes([{ key: AGENT_KEY, value: id }]);
  }

  listen(): void {
    setHandler(sendUpdate, (request?: SendRequest) => this.send(request), {
      validator: (request?: SendRequest) => {
        checked(sendSchema, 'The message', request);
        if (this.isEnding)
          refuse('session_closed', { session: this.id, reason: this.stopReason ?? 'the agent ended' });
      },
      description: 'One more message, answers with the turn\'s result: {"message":"and now?"}',
    });
    setHandler(
      sendSignal,
      (request?: SendRequest) =>
        this.signalled(() => void this.queue.push(checked(sendSchema, 'The message', request))),
      { description: 'One more message: {"message":"and now?"}' },
    );
    setHandler(
      stopSignal,
      (request?: StopRequest) =>
        this.signalled(() =>
          this.stop(checked(stopSchema, 'The stop request', request).reason ?? 'it was stopped'),
        ),
      { description: 'End the turn, close the sessions, end the agent: {"reason":"enough"}' },
    );
    setHandler(stateQuery, () => this.state(), {
      description: 'What it is at: status, turn, sessions, refused signals; no data',
    });
    setHandler(transcriptQuery, (request) => this.transcript.page(request), {
      description: 'The messages of the turns that have ended, by pages: {} or {"from":0,"limit":100}',
    });
    this.show();
  }

  async live(): Promise<AgentResult> {
    try {
      await this.scope.run(() => this.converse());
    } catch (err) {
      if (!isCancellation(err)) throw err;
    } finally {
      this.ended = true;
      if (!this.input.keep) await CancellationScope.nonCancellable(() => this.closeSessions());
    }
    const result: AgentResult = this.lastResult ?? { answer: null, reason: 'stopped', error: null, steps: 0 };
    for (const { done } of this.queue) done?.({ answer: null, reason: 'stopped', error: null, steps: 0 });
    this.show();
    await condition(allHandlersFinished);
    if (this.mode === 'task' && result.error) {
      throw toFailure(new HoldfastError(result.error.code, result.error.facts));
    }
    return result;
  }

  private get isEnding(): boolean {
    return this.ended || this.stopReason !== null;
  }

  private async converse(): Promise<void> {
    const idleMs = this.input.idleMs ?? DAY_MS;
    while (this.stopReason === null) {
      const next = this.queue.shift();
      if (next) {
        const result = await this.runTurn(next.message);
        next.done?.(result);
      } else if (this.mode === 'task' || !(await condition(() => this.queue.length > 0, idleMs))) {
        return;
      }
    }
  }

  private async runTurn(message: string): Promise<AgentResult> {
    const number = (this.turns += 1);
    this.working = true;
    this.message = message;
    this.show();
    try {
      const full = await this.executeTurn(number, message);
      const { messages, sessions, ...result } = full;
      this.transcript.push(...messages);
      for (const session of sessions) this.sessions.add(session);
      this.lastResult = result;
      return result;
    } finally {
      this.working = false;
      this.message = null;
      this.show();
    }
  }

  private async executeTurn(number: number, message: string): Promise<TurnResult> {
    const { model, host, cwd, tools, limits, yield: yielding } = this.input;
    const settings = {
      model,
      ...(host && { host }),
      ...(cwd && { cwd }),
      ...(tools && { tools }),
      ...(limits && { limits }),
      ...(yielding && { yield: yielding }),
    };
    const earlier = { count: this.transcript.messages.length, runId: workflowInfo().runId };
    try {
      // A cancelled turn still returns what it has: nothing of the conversation is lost by a stop.
      return await executeChild(turn, {
        workflowId: turnWorkflowId(this.id, number),
        args: [
          {
            agent: this.id,
            born: workflowInfo().firstExecutionRunId,
            turn: number,
            message,
            settings,
            earlier,
          },
        ],
        parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
        staticSummary: label(message),
        staticDetails: inMarkdown(message, 2_000),
        // So that the list of an agent's workflows shows its turns, too.
        typedSearchAttributes: [{ key: AGENT_KEY, value: this.id }],
      });
    } catch (err) {
      if (!(err instanceof ChildWorkflowFailure) || isCancellation(err)) throw err;
      const {
        code,
        message: text,
        facts,
      } = new HoldfastError('internal', { reason: reasonOf(err.cause ?? err) });
      const error = { code, message: text, facts };
      const messages: Message[] = [{ role: 'user', text: message }];
      return { answer: null, reason: 'model_error', error, steps: 0, messages, sessions: [] };
    }
  }

  private async send(request?: SendRequest): Promise<AgentResult> {
    const { message } = checked(sendSchema, 'The message', request);
    return new Promise<AgentResult>((done) => {
      this.queue.push({ message, done });
      this.show();
    });
  }

  private stop(reason: string): void {
    this.stopReason ??= reason;
    this.scope.cancel();
  }

  private async closeSessions(): Promise<void> {
    if (this.turns === 0) return;
    const reason = this.stopReason ?? 'its agent ended';
    const host = this.input.host ?? LOCAL_HOST;
    const summary = label(`close the sessions: ${reason}`);
    await closeSessions.executeWithOptions({ summary }, [
      { agent: this.id, host, sessions: [...this.sessions], reason },
    ]);
  }

  private signalled(take: () => void): void {
    try {
      take();
    } catch (err) {
      this.refused.push(err instanceof Error ? err.message : String(err));
      if (this.refused.length > 5) this.refused.shift();
    }
    this.show();
  }

  /** What the agent's page shows; to be called where the state changes. No command. */
  private show(): void {
    const { namespace } = workflowInfo();
    const state = this.state();
    if (state.status !== this.shown.status) this.shown = { status: state.status, since: new Date() };
    setCurrentDetails(agentDetails({ state, namespace, message: this.message, since: this.shown.since }));
  }

  private state(): AgentState {
    const { id, mode, turns, queue, lastResult, sessions, refused, input } = this;
    const status = this.ended
      ? 'ended'
      : this.stopReason !== null
        ? 'stopping'
        : this.working
          ? 'working'
          : 'idle';
    return {
      agent: id,
      mode,
      status,
      model: input.model,
      host: input.host ?? LOCAL_HOST,
      turns,
      currentTurn: this.working ? turnWorkflowId(id, turns) : null,
      queued: queue.length,
      lastResult,
      sessions: [...sessions],
      refused,
    };
  }
}
