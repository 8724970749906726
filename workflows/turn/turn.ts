// `turn`: one message in, one answer out. A loop of steps: a model call and the tool calls it asks for.
import { CancellationScope, isCancellation, log, workflowInfo } from '@temporalio/workflow';
import type {
  EndReason,
  ToolCall,
  ToolResult,
  TurnError,
  TurnInput,
  TurnResult,
  TurnState,
} from '../../contracts/agents/agent';
import type { ModelCall } from '../../contracts/models/model-call';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { codeOfFailed, failedCall } from '../../contracts/tools/failed-call';
import { fromFailure } from '../../contracts/errors/failure';
import { ownValue } from '../../contracts/own';
import { label } from '../../contracts/text/labels';
import type { QuestionsSignal } from '../../contracts/agents/questions';
import { argumentsOf } from '../../contracts/tools/shown-values';
import type { ToolSettings } from '../../contracts/tools/tools';
import { fitText, FULL_TURN_BYTES, MAX_TURN_BYTES } from '../../contracts/payload-size';
import type { PlannedReply } from '../../contracts/models/model-reply';
import { tokensOf } from '../../contracts/models/usage';
import { usageOfFailure } from '../../contracts/models/usage-of-failure';
import { TURN_MESSAGES as MESSAGES } from '../../contracts/messages/to-agents';
import { AgentsWait } from './calls/agents-wait';
import { AskedModel } from './asked-model';
import { Approvals, listenToApprovals, newApprovals, withTime } from '../messages/approvals';
import { Listener } from '../messages/listener';
import { OpenQuestions, QuestionsForAgent } from '../messages/open-questions';
import { toolCalled, turnEnded } from '../messages/metered';
import { Spawns } from './calls/spawns';
import { runCalls } from './calls/step-calls';
import { recordedResult } from './calls/recorded-result';
import { recordedTranscript, transcriptEnded } from './recorded-transcript';
import { callTool } from './calls/tool-activities';
import { TurnBudget } from './turn-budget';
import { TurnCheckpoints } from './turn-checkpoints';
import { endOf, SHOWN_BYTES, type TurnEnd } from './turn-error';
import { TurnProgress } from './turn-progress';
import type { TurnRecord } from './turn-record';
import { lastProse, repairText } from './turn-texts';
import { WallTime } from './wall-time';
import { continueInNextRun } from '../next-run';

export async function turn(input: TurnInput, carried?: TurnRecord): Promise<TurnResult> {
  const current = new Turn(input, carried);
  const signalled = (take: () => unknown): void => {
    try {
      take();
    } catch (err) {
      log.warn('a signal was refused', { reason: reasonOf(fromFailure(err) ?? err) });
    }
  };
  const listener = new Listener({ admit: (parse) => parse(), signalled });
  listener.query(MESSAGES.transcript, (request) => current.transcript.page(request));
  listener.query(MESSAGES.state, () => current.state());
  listener.signal(MESSAGES.interrupt, () => current.interrupt());
  listener.signal(MESSAGES.agentsEnded, (signal) => current.agentsWait.answer(signal));
  listener.signal(MESSAGES.questions, (signal) => current.elsewhere(signal));
  listener.signal(MESSAGES.agentsSpawned, (signal) => current.spawns.answer(signal));
  // The page then shows that it is still waiting.
  listenToApprovals(current.approvals, () => undefined);
  try {
    return await current.wallTime.during(() => current.run());
  } catch (err) {
    if (!isCancellation(err)) throw err;
    const stopped = CancellationScope.current().consideredCancelled;
    return current.result(stopped ? 'stopped' : 'time_limit');
  }
}

/** A replay reads the whole history: beyond this it delays callers. */
const CONTINUE_AT_EVENTS = 2_000;
/** Share of the model's window; the rest is for its reply and what the next step adds. */
const FULL_WINDOW = 0.8;

class Turn {
  readonly transcript = recordedTranscript();
  readonly wallTime = new WallTime(() => this.budget.wallMsLeft);
  readonly agentsWait = new AgentsWait((usage) => this.budget.spend(usage));
  readonly spawns = new Spawns();
  private readonly checkpoints: TurnCheckpoints;
  private readonly budget: TurnBudget;
  private readonly sessions: Set<number>;
  private readonly progress: TurnProgress;
  readonly approvals: Approvals;
  private readonly inSessions = new OpenQuestions();
  /** The model's window is nearly full. */
  private isFullForModel: boolean;
  private isInterrupted = false;
  private readonly model: AskedModel;

  constructor(
    private readonly input: TurnInput,
    carried?: TurnRecord,
  ) {
    this.transcript.push(...(carried?.messages ?? [{ role: 'user', text: input.message }]));
    this.budget = new TurnBudget(input, carried);
    this.isFullForModel = carried?.isFullForModel ?? false;
    this.sessions = new Set(carried?.sessions);
    this.progress = new TurnProgress(input, this.budget.maxSteps);
    this.model = new AskedModel(this.progress, () => this.budget.wallMsLeft);
    this.checkpoints = new TurnCheckpoints(input, this.transcript);
    // A turn never continues as new while one of its calls waits: only the approved rules are carried over.
    const questions = new QuestionsForAgent(input.agent);
    this.approvals = new Approvals({ ...newApprovals(), cleared: carried?.cleared ?? [] }, () => {
      questions.report(this.approvals.waiting);
      this.progress.holds(this.approvals);
    });
  }

  /** Pending approvals in a session of its agent. */
  elsewhere(signal: QuestionsSignal | undefined): void {
    if (signal && this.inSessions.take(signal, this.input.agent, null))
      this.progress.holdsElsewhere(this.inSessions);
  }

  interrupt(): void {
    this.isInterrupted = true;
    this.model.interrupt();
    this.agentsWait.giveUp();
    this.approvals.denyAll(INTERRUPTED);
  }

  async run(): Promise<TurnResult> {
    const end = await this.work();
    if (this.checkpoints.isPending) await this.checkpoints.settled();
    return this.result(end.reason, end.answer, end.error);
  }

  private async work(): Promise<TurnEnd> {
    for (;;) {
      const reason = this.over();
      if (reason) return { reason };
      if (this.isLong()) {
        // Interleaves with an interruption.
        if (this.checkpoints.isPending) await this.checkpoints.settled();
        // The next run would not know of it.
        if (this.isInterrupted) continue;
        await continueInNextRun<typeof turn>(this.input, this.record());
      }
      this.budget.steps += 1;
      let reply: PlannedReply;
      try {
        if (this.isFullForModel) {
          await this.compact();
          continue;
        }
        reply = await this.model.reply(this.budget.steps, this.input.settings.model, () => this.modelCall);
      } catch (err) {
        if (this.isInterrupted) return { reason: 'interrupted' };
        if (isCancellation(err)) throw err;
        if (this.mayCompact(err)) continue;
        return endOf(err);
      }
      if (this.checkpoints.isPending) await this.checkpoints.settled();
      const { text, parsed, usage, extras, window } = reply;
      const step = this.nextStep;
      const isRecorded = reply.checkpoint === true;
      if (isRecorded) await this.checkpoints.before(step);
      this.transcript.push({
        role: 'assistant',
        ...(text !== undefined && { text }),
        parsed,
        ...(usage && { usage }),
        ...(extras && { extras }),
        step,
      });
      this.budget.spend(usage);
      this.isFullForModel = window !== undefined && tokensOf(usage ?? null) > FULL_WINDOW * window;
      if (parsed.kind === 'answer') return { reason: 'answered', answer: parsed.answer };
      if (parsed.kind === 'calls') {
        this.progress.runs(parsed);
        this.spawns.plans = reply.plans ?? {};
        const results = await this.callTools(parsed.calls, parsed.headline);
        if (isRecorded) this.checkpoints.after(step);
        const unusable = this.unusableCalls(results);
        if (unusable) return unusable;
        continue;
      }
      const problem = fitText(parsed.problem, SHOWN_BYTES);
      const unusable = this.budget.unusable(problem);
      if (unusable) return unusable;
      this.transcript.push({ role: 'repair', text: repairText(problem, this.budget.repairsLeft) });
    }
  }

  /** A model that calls only tools that do not exist would go on like that until its step limit. */
  private unusableCalls(results: readonly ToolResult[]): TurnEnd | undefined {
    const [first] = results;
    if (first && results.every((result) => codeOfFailed(result) === 'unknown_tool'))
      return this.budget.unusable(fitText(first.content, SHOWN_BYTES));
    this.budget.repairs = 0;
    return undefined;
  }

  /** The number of the next reply in the conversation. */
  private get nextStep(): number {
    return (
      this.input.stepsBefore + 1 + this.transcript.messages.filter(({ role }) => role === 'assistant').length
    );
  }

  state(): TurnState {
    return this.progress.state({ usage: this.budget.usage, messages: this.transcript.messages.length });
  }

  result(reason: EndReason, answer: string | null = null, error: TurnError | null = null): TurnResult {
    const { steps, usage, startedAt, callsOfActivities } = this.budget;
    const { openStep: cutStep } = this.checkpoints;
    const { messages } = this.transcript;
    const sessions = [...this.sessions];
    const last = messages.at(-1);
    const output =
      last?.role === 'assistant' && last.parsed.kind === 'answer' ? last.parsed.output : undefined;
    const result = {
      answer: answer ?? lastProse(messages),
      reason,
      error,
      steps,
      ...(output !== undefined && { output }),
      ...(usage && { usage }),
      messages,
      sessions,
      calls: callsOfActivities,
      ...(cutStep !== undefined && { cutStep }),
    };
    this.progress.ended(result);
    turnEnded(result, startedAt);
    transcriptEnded();
    return result;
  }

  private isLong(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    if (historyLength <= CONTINUE_AT_EVENTS && !continueAsNewSuggested) return false;
    return this.budget.steps > 0;
  }

  private record(): TurnRecord {
    const { budget, sessions, isFullForModel } = this;
    const { messages } = this.transcript;
    const { cleared } = this.approvals.record;
    const rest = { isFullForModel, ...(cleared.length > 0 && { cleared }) };
    return { messages, ...budget.record, sessions: [...sessions], ...rest };
  }

  /** Why there is no further step, if so. */
  private over(): EndReason | undefined {
    if (this.isInterrupted) return 'interrupted';
    return this.budget.over ?? (this.isFull() ? 'size_limit' : undefined);
  }

  /** A turn returns one payload, and a reply is its largest addition. */
  private isFull(): boolean {
    return this.transcript.bytes >= FULL_TURN_BYTES;
  }

  private get modelCall(): ModelCall {
    const { workflowId, runId } = workflowInfo();
    const { agent, settings, earlier } = this.input;
    const { model, tools, dialect, instructions, outputSchema, host, cwd } = settings;
    const turn = { workflowId, runId, ...this.transcript.extent };
    const own = { agent, turn, earlier, key: this.stepKey };
    return { model, tools, dialect, instructions, outputSchema, host, cwd, ...own };
  }

  /** A separate step: a summary replaces the conversation. */
  private async compact(): Promise<void> {
    const asked = this.model.summary(this.budget.steps, () => this.modelCall);
    const { text, usage } = await asked.catch((err: unknown) => {
      this.budget.spend(usageOfFailure(err));
      throw err;
    });
    const covers = this.input.earlier.count + this.transcript.messages.length;
    this.transcript.push({ role: 'summary', text, covers });
    this.budget.spend(usage);
    this.isFullForModel = false;
  }

  /** A conversation that is too long for the model is summarized once, not repeatedly; a single message never is. */
  private mayCompact(err: unknown): boolean {
    const { messages } = this.transcript;
    const isTooLong = fromFailure(err)?.code === 'model_context_length';
    const isSingle = this.input.earlier.count + messages.length < 2;
    if (!isTooLong || isSingle || this.isFullForModel || messages.at(-1)?.role === 'summary') return false;
    this.isFullForModel = true;
    return true;
  }

  private async callTools(calls: ToolCall[], headline: string | null): Promise<ToolResult[]> {
    this.wallTime.start();
    const started = runCalls(
      calls,
      (call, isReferredTo) => this.runCall(call, headline, isReferredTo),
      (call) => call.facts?.session,
    );
    const ended = new Map<number, ToolResult>();
    for (const [index, call] of started.entries())
      call.then(
        (result) => ended.set(index, result),
        () => undefined,
      );
    try {
      return await Promise.all(started);
    } finally {
      // Also of a step that is cut off: what has ended has had its effect.
      this.recordResults([...started.keys()].flatMap((index) => ended.get(index) ?? []));
    }
  }

  private recordResults(results: readonly ToolResult[]): void {
    for (const [index, result] of results.entries()) {
      toolCalled(result);
      // When little room is left, the remaining results share it; the calls have run, so each is recorded.
      const room = (MAX_TURN_BYTES - this.transcript.bytes) / (results.length - index);
      this.transcript.push(recordedResult(result, room));
    }
  }

  private async runCall(call: ToolCall, headline: string | null, isReferredTo: boolean): Promise<ToolResult> {
    const { session } = call.facts ?? {};
    if (session !== undefined) this.sessions.add(session);
    const result = await this.outcomeOf(call, headline, isReferredTo);
    // It was not known before if the call refers to another's result, or if the first session of several was taken.
    if (result.session) this.sessions.add(result.session.session);
    this.progress.saw(session, result);
    return result;
  }

  private keyOf = ({ callId }: ToolCall): string => `${this.stepKey}/${callId}`;

  private get stepKey(): string {
    return `${this.input.born}/turn/${this.input.turn}/${this.budget.steps}`;
  }

  private async outcomeOf(
    call: ToolCall,
    headline: string | null,
    isReferredTo: boolean,
  ): Promise<ToolResult> {
    const { agent } = this.input;
    const { host, cwd, remoteHost, yield: yielding, tools } = this.input.settings;
    // No more than that: a hundred calls with long instructions in each would not fit into one gRPC message.
    const settings: ToolSettings = {
      ...(host && { host }),
      ...(cwd && { cwd }),
      ...(remoteHost && { remoteHost }),
      ...(yielding && { yield: yielding }),
      ...(tools && { tools }),
    };
    const key = this.keyOf(call);
    const summary = label(headline ?? '') || label(call.tool);
    const callsLeft = this.budget.takeCall();
    if (callsLeft instanceof HoldfastError) return failedCall(call, callsLeft);
    const ruled = await this.approved(call, key);
    if (ruled instanceof HoldfastError) return failedCall(call, ruled);
    const plan = ownValue(this.spawns.plans, call.callId);
    if (plan ?? call.runsOn === 'turn') this.budget.countOwn();
    if (call.runsOn === 'turn') return this.waitForAgents(call, key);
    const { left: budgetLeft } = this.budget;
    if (plan) return this.spawns.run({ agent, call, key, plan, budgetLeft, isReferredTo });
    const more = { ...(budgetLeft && { budgetLeft }), ...(isReferredTo && { wantsValue: true }) };
    return callTool({ agent, key, call: ruled, settings, callsLeft, ...more }, summary);
  }

  /** With when its approval was asked for, if the policy or a person allows it; otherwise why it is refused. */
  private async approved(call: ToolCall, key: string): Promise<ToolCall | HoldfastError> {
    const { hold, denied, tool, args } = call;
    if (denied !== undefined) return new HoldfastError('policy_denied', { reasons: denied });
    if (!hold) return call;
    // The interruption answered everything that was waiting; no question follows it.
    if (this.isInterrupted) return new HoldfastError('approval_denied', { reason: INTERRUPTED });
    try {
      const values = argumentsOf(args, hold.secret);
      const question = { id: key, agent: this.input.agent, runs: tool, values, ...hold };
      return { ...call, hold: withTime(hold, await this.approvals.ask(question)) };
    } catch (err) {
      const known = fromFailure(err);
      if (isCancellation(err) || !known) throw err;
      return known;
    }
  }

  private async waitForAgents(call: ToolCall, key: string): Promise<ToolResult> {
    return await this.progress.waitsForAgents(() => this.agentsWait.run(this.input.agent, call, key));
  }
}

const INTERRUPTED = 'the turn was interrupted';
