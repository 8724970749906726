// A conversation: accepts messages one after the other, runs a turn for each, owns the sessions that its turns opened
// and its sub-agents, and closes them when it ends.
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  ContinueAsNew,
  isCancellation,
  log,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { AgentInput, AgentSettings, SendRequest } from '../../../contracts/schemas/agent';
import type { AgentResult, AgentState, TurnResult, Usage } from '../../../contracts/agents/agent';
import { HoldfastError, reasonOf } from '../../../contracts/errors/holdfast-error';
import { fromFailure, toFailure } from '../../../contracts/errors/failure';
import { hostNameOf, turnWorkflowId } from '../../../contracts/ids';
import { addUsage } from '../../../contracts/models/usage';
import type { Wait } from '../../../contracts/agents/waits';
import { attributesOfAgent, firstState } from '../../../contracts/agents/work-state';
import { agentDetails } from '../agent-labels';
import { AgentPhase } from './agent-phase';
import { publishedWait, waitOf } from '../agent-waits';
import { AgentRewinds } from '../agent-rewinds';
import { AgentSessions } from '../agent-sessions';
import { CarriedConversation } from './carried-conversation';
import { continuedInput, settingsOf } from '../../turn/agent-turn';
import {
  fits,
  isLong,
  lastStep,
  newConversation,
  STOPPED,
  type ConversationRecord,
} from './conversation-record';
import { CurrentTurn } from './current-turn';
import { firstMessages } from './first-messages';
import { LastTurn } from './last-turn';
import { MessageQueue, type Done } from './message-queue';
import { OpenQuestions } from '../../messages/open-questions';
import { AgentOwnWorkspace } from '../own-workspace';
import { refuse } from '../../messages/refusal';
import { SubAgents } from '../sub-agents';
import { TakenMessages } from './taken-messages';
import { notifyParent } from '../notify-parent';
import { PublishedState } from '../../messages/published-state';
import { recordedTranscript } from '../../turn/recorded-transcript';
import { continueInNextRun } from '../../next-run';

/** Callers that wait by update are sent to the next run after this long. */
const DRAIN_MS = 10_000;

type AgentWorkflow = (input: AgentInput, carried: ConversationRecord) => Promise<AgentResult>;

export class Conversation {
  readonly transcript = recordedTranscript();
  readonly agents: SubAgents;
  readonly taken: TakenMessages;
  readonly questions: OpenQuestions;
  readonly rewinds: AgentRewinds;
  /** Accepts no messages for a moment: it is about to continue as new. */
  isDraining = false;
  /** The turn after which it could not continue as new; the next one's end tries again. */
  private postponed: number | null = null;
  private readonly queue: MessageQueue;
  readonly phase = new AgentPhase();
  private readonly sessions: AgentSessions;
  private readonly refused: string[];
  private readonly mode: 'task' | 'conversation';
  private turns: number;
  private readonly lastTurn: LastTurn;
  private usage: Usage | null;
  private readonly scope = new CancellationScope();
  private readonly turn = new CurrentTurn();
  /** In earlier runs. */
  private readonly stepsBefore: number;
  /** How many messages the run before gave it. */
  private readonly carried: number;
  private readonly isFresh: boolean;
  private readonly settings: AgentSettings;
  private readonly workspace: AgentOwnWorkspace;
  private readonly published: PublishedState;
  private readonly carrying: CarriedConversation;

  constructor(
    private readonly id: string,
    private readonly input: AgentInput,
    carried?: ConversationRecord,
  ) {
    this.mode = input.mode ?? (input.task === undefined ? 'conversation' : 'task');
    if (this.mode === 'task' && input.task === undefined && !carried) {
      const allowed = 'a task in mode "task"; without a task, mode "conversation"';
      refuse('invalid_input', { what: 'The input of agent', got: 'no task', allowed });
    }
    const { messages, turns, steps, agents, queue, usage, refused, taken, questions, urgent } =
      carried ?? newConversation();
    this.isFresh = carried === undefined;
    this.settings = settingsOf(input);
    this.workspace = new AgentOwnWorkspace(id, input, this.settings);
    this.transcript.push(...messages);
    this.turns = turns;
    this.stepsBefore = steps;
    this.carried = messages.length;
    this.rewinds = new AgentRewinds({
      ...{ agent: id, settings: this.settings, transcript: this.transcript },
      busyWith: () => this.busyWith,
      endReason: () => (this.phase.isEnding ? this.endReason : undefined),
      nextStep: () => lastStep(this.transcript.messages, this.stepsBefore) + 1,
      resetSessions: (reason) => this.sessions.reset(reason),
    });
    this.sessions = new AgentSessions(id, input, carried);
    this.carrying = new CarriedConversation(id, input, (isBusy) => {
      this.phase.isSummingUp = isBusy;
      this.isDraining = !isBusy;
    });
    this.agents = new SubAgents(id, input, agents, () => this.published.isPublished);
    this.taken = new TakenMessages(taken);
    this.lastTurn = new LastTurn(carried);
    this.usage = usage;
    this.refused = refused;
    this.questions = new OpenQuestions(questions);
    const task = this.isFresh && input.task !== undefined ? [input.task] : [];
    this.queue = new MessageQueue([...task, ...queue], urgent);
    this.published = PublishedState.open(attributesOfAgent(id), firstState(this.queue.length > 0));
  }

  get endReason(): string {
    return this.phase.stopReason ?? 'the agent ended';
  }

  async live(): Promise<AgentResult> {
    let isLeaving = false;
    try {
      await this.scope.run(() => this.converse());
    } catch (err) {
      isLeaving = err instanceof ContinueAsNew;
      if (!isCancellation(err)) throw err;
    } finally {
      if (!isLeaving) {
        this.phase.isEnded = true;
        this.publish();
        await CancellationScope.nonCancellable(() => this.end());
      }
    }
    const result = this.lastTurn.result ?? STOPPED;
    this.queue.answerAll(STOPPED);
    const reported = { ...result, ...(this.usage && { usage: this.usage }) };
    await CancellationScope.nonCancellable(() => notifyParent(this.id, reported));
    this.show();
    await condition(allHandlersFinished);
    // Time that has run out is a result, whatever kept the turn.
    if (this.mode === 'task' && result.error && result.reason !== 'time_limit') {
      throw toFailure(HoldfastError.received(result.error.code, result.error.facts));
    }
    return result;
  }

  take(request: SendRequest, done?: Done): void {
    this.queue.add(request, done);
    if (request.mode === 'interrupt') this.interruptTurn();
  }

  /** Ends the running turn, if any, before its next step. */
  interruptTurn(): void {
    if (this.phase.isWorking) void this.turn.interrupt();
  }

  /** The same; resolves when it has ended. For updates: a signal's promise is not awaited, see `recover`. */
  async turnInterrupted(): Promise<void> {
    if (!this.phase.isWorking) return;
    const { turns } = this;
    this.interruptTurn();
    // An agent that is cancelled ends its turn.
    const isOver = (): boolean => !this.phase.isWorking || this.turns !== turns;
    await CancellationScope.nonCancellable(() => condition(isOver));
  }

  stop(reason: string): void {
    this.phase.stop(reason);
    this.publish();
    this.scope.cancel();
  }

  /** Ends the turn and resets the sessions; resolves when that is done. Throws `unknown_outcome` if some were not. */
  async recover(reason: string): Promise<void> {
    this.phase.recoverReason ??= reason;
    this.turn.cancel();
    // A summary may take an hour; its end finds that nothing is left to reset.
    if (this.phase.isSummingUp) this.resetSessions(reason).catch(() => undefined);
    const isOver = (): boolean => this.phase.recoverReason === null || this.phase.isEnding;
    // A signal's promise is not awaited: if it were cancelled with the workflow, it would fail the task.
    await CancellationScope.nonCancellable(() => condition(isOver));
    if (!this.phase.isEnding) this.sessions.checkRecovered();
  }

  /** Puts away that the last turn failed. @param turn another one is not meant */
  dismiss(turn = this.turns): void {
    if (turn === this.turns && this.lastTurn.dismiss(this.phase)) this.publish();
  }

  refuse(err: unknown): void {
    this.refused.push(reasonOf(fromFailure(err) ?? err));
    if (this.refused.length > 5) this.refused.shift();
  }

  /** Runs until its end, or until it continues as new. */
  private async converse(): Promise<void> {
    if (this.input.workspace) await this.workspace.make();
    if (this.isFresh) this.transcript.push(...(await firstMessages(this.id, this.input)));
    const { phase } = this;
    const hasWork = (): boolean => this.queue.length > 0 || phase.recoverReason !== null;
    while (!phase.isStopped) {
      const isLast = this.isDone() && this.queue.length === 0;
      if (this.rewinds.hasCutStep && phase.recoverReason === null && !isLast)
        await this.rewinds.recordCutStep();
      // A rewind goes first; no message that came meanwhile overtakes it.
      if (this.rewinds.isRewinding) await condition(() => !this.rewinds.isRewinding);
      if (phase.recoverReason !== null) {
        await this.resetSessions(phase.recoverReason);
        if (this.rewinds.hasCutStep) continue;
      }
      const next = this.mayContinueAsNew() ? undefined : this.queue.next();
      if (next) {
        const result = await this.runTurn(next.message, next.done);
        next.done?.(result);
      } else if (this.isDraining) {
        const record = await this.drained();
        if (record) await continueInNextRun<AgentWorkflow>(continuedInput(this.input, this.mode), record);
      } else {
        if (this.isDone()) return;
        this.publish();
        const isWanted = await condition(hasWork, this.input.idleMs ?? '24 hours');
        if (!isWanted && !this.rewinds.delayEnd) return;
      }
    }
  }

  /** A task ends with its answer; a recovered task waits for the next message. */
  private isDone(): boolean {
    return this.mode === 'task' && this.lastTurn.result?.reason !== 'recovered';
  }

  private async runTurn(message: string, done?: Done): Promise<AgentResult> {
    const number = (this.turns += 1);
    this.phase.message = message;
    this.publish();
    this.show();
    try {
      const { messages, sessions, calls, cutStep, ...result } = await this.turnOf(number, message);
      this.transcript.push(...messages);
      this.rewinds.cutOff(number, cutStep);
      this.sessions.opened({ sessions, calls });
      if (result.usage) this.usage = addUsage(this.usage, result.usage);
      return this.lastTurn.ended(result);
    } catch (err) {
      done?.(STOPPED); // Cancelled before it had a result.
      this.sessions.opened(null);
      throw err;
    } finally {
      this.phase.message = null;
      this.questions.forget(turnWorkflowId(this.id, number));
      this.show();
    }
  }

  private async turnOf(number: number, message: string): Promise<TurnResult> {
    const { id, settings, transcript, published } = this;
    const result = await this.turn.run({
      ...{ agent: id, number, message, settings },
      extent: transcript.extent,
      stepsBefore: lastStep(this.transcript.messages, this.stepsBefore),
      publishes: published.isPublished,
    });
    const isRecovered =
      result.reason === 'stopped' && this.phase.recoverReason !== null && !this.phase.isEnding;
    return isRecovered ? { ...result, reason: 'recovered' } : result;
  }

  /** Starts draining if the history is long. True if no caller's message would be cut off. */
  private mayContinueAsNew(): boolean {
    const isFitting = fits(this.record([]));
    // Queued messages become fewer; if none are queued, it would not fit the next time either.
    const mayFit = isFitting || this.queue.length > 0;
    const isDue = this.turns > 0 && isLong() && !this.isDone();
    this.isDraining = mayFit && this.postponed !== this.turns && (this.isDraining || isDue);
    return this.isDraining && !this.queue.isAwaited && isFitting;
  }

  /** What the next run receives, once this one is not waited for. */
  private async drained(): Promise<ConversationRecord | undefined> {
    const { messages, usage, fault } = await this.carrying.of(this.transcript);
    if (usage) this.usage = addUsage(this.usage, usage);
    if (fault !== undefined) this.refuse(fault);
    if (!messages) return void (this.postponed = this.turns);
    const isBusy = (): boolean => this.phase.isEnding || this.phase.recoverReason !== null;
    await condition(() => allHandlersFinished() || isBusy() || this.queue.isAwaited, DRAIN_MS);
    return !isBusy() && this.mayContinueAsNew() ? this.record(messages) : undefined;
  }

  private record(messages: ConversationRecord['messages']): ConversationRecord {
    const { turns, agents, queue, usage, refused } = this;
    return {
      messages,
      turns,
      steps: lastStep(this.transcript.messages, this.stepsBefore),
      ...this.sessions.record,
      agents: agents.record,
      taken: this.taken.record,
      ...queue.record,
      ...this.lastTurn.record,
      usage,
      refused,
      questions: this.questions.record,
    };
  }

  private async resetSessions(reason: string): Promise<void> {
    try {
      const fault = await this.sessions.recover(reason, this.turns);
      if (fault !== undefined) this.refuse(fault);
    } finally {
      this.phase.recoverReason = null;
      this.show();
    }
  }

  private async end(): Promise<void> {
    if (this.rewinds.delayEnd) await condition(() => !this.rewinds.isRewinding);
    const reason = this.phase.stopReason ?? 'its agent ended';
    log.info('agent ended', { reason, turns: this.turns });
    if (!this.agents.isEmpty) await this.agents.stopAll(reason);
    const fault = await this.sessions.close(reason);
    if (fault !== undefined) this.refuse(fault);
    if (this.rewinds.hasCutStep) await this.rewinds.recordCutStep();
    if (this.input.workspace)
      this.lastTurn.result = await this.workspace.leave(this.lastTurn.result ?? STOPPED);
  }

  /** Updates the search attributes; to be called where the state will last. A command. */
  publish(): void {
    const waitsFor = publishedWait(this.waits, this.lastTurn.hasFailed(this.phase));
    this.published.publish(
      { state: this.phase.status, waitsFor },
      this.lastTurn.notices(this.phase, this.turns),
    );
  }

  /** Updates the agent's page; to be called when the state changes. Not a command. */
  show(): void {
    const state = this.state();
    this.phase.show();
    const { message, since } = this.phase;
    setCurrentDetails(agentDetails({ state, namespace: workflowInfo().namespace, message, since }));
  }

  state(): AgentState {
    const { id, mode, turns, queue, phase, sessions, refused, input, settings, usage } = this;
    return {
      agent: id,
      mode,
      status: phase.status,
      model: input.model,
      host: hostNameOf(input),
      turns,
      currentTurn: phase.isWorking ? turnWorkflowId(id, turns) : null,
      queued: queue.length,
      lastResult: this.lastTurn.result,
      sessions: sessions.numbers,
      agents: this.agents.views(),
      usage,
      runId: workflowInfo().runId,
      messages: this.transcript.messages.length,
      carried: this.carried,
      continuedFrom: workflowInfo().continuedFromExecutionRunId ?? null,
      settings,
      refused,
      approvals: this.questions.open,
      since: phase.since.toISOString(),
      waits: this.waits,
      shells: sessions.shells,
    };
  }

  private get busyWith(): string | undefined {
    if (this.phase.isWorking) return `turn ${this.turns}`;
    if (this.phase.isSummingUp) return 'the summary of its conversation';
    if (this.queue.length > 0) return 'a message that is next';
    return this.phase.recoverReason === null ? undefined : 'the reset of its sessions';
  }

  private get waits(): Wait | null {
    const { id, turns, phase, lastTurn, questions } = this;
    const facts = { id, status: phase.status, turns, since: phase.since.toISOString() };
    return waitOf({ ...facts, questions: questions.open, isFailed: lastTurn.hasFailed(phase) });
  }
}
