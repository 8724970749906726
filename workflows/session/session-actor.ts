// How an exec session handles messages: decides what runs when, runs it on the host, remembers the results. Signals
// and updates reach the same methods.
import {
  CancellationScope,
  condition,
  currentUpdateInfo,
  isCancellation,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import type { Yielded } from '../../contracts/sessions/host';
import { label } from '../../contracts/text/labels';
import { ownValue } from '../../contracts/own';
import { SESSION_MESSAGES } from '../../contracts/messages/to-sessions';
import type {
  ExecRequest,
  InputRequest,
  OutputRequest,
  ResetRequest,
  WaitRequest,
} from '../../contracts/schemas/session';
import { hasEnded, type CommandView, type WaitResult } from '../../contracts/sessions/session';
import type { ToolCallAnswer, ToolCallRequest } from '../../contracts/tools/tools';
import { Approvals } from '../messages/approvals';
import { CommandRun } from './command-run';
import { hostFailure, repeatable } from '../host/host-activities';
import { commandEnded, commandFailed } from '../messages/metered';
import { QuestionsForAgent } from '../messages/open-questions';
import { checkedRequest, refuse, refuseAs } from '../messages/refusal';
import { MAX_QUEUED_INPUT_BYTES, QueuedInputs } from './queued-inputs';
import { DEFAULT_WAIT_MS, waitOf } from './session-waits';
import { logCommand } from './log-command';
import { SessionIds } from './session-ids';
import { isShowable, sessionDetails, summaryOfInput } from './session-labels';
import {
  bindToFolder,
  factsOfBusy,
  idOnHost,
  inputOf,
  isYielded,
  newCommand,
  noticesOf,
  showView,
  workStateOf,
  type RunningCommand,
  type SessionRecord,
} from './session-record';
import { SessionTools } from './session-tools';
import type { PublishedState } from '../messages/published-state';

/** When a view shows a command's end, the host has sent that end or is about to. */
const SETTLE_MS = 10_000;
const REPLACED = 'another command took its place';
const SENT_BEFORE = 'its id was sent before, and the host has no record of it';

export class SessionActor {
  phase: 'open' | 'draining' | 'closed' = 'open';
  private closingReason: string | null = null;
  /** Callers that wait for a command are sent to the next run, which knows the command. */
  isHandingOver = false;
  /** Waits for other sessions, which must not delay the end of this one. */
  private readonly waits = new Set<CancellationScope>();
  /** When the last message came, in workflow time. */
  usedAt = Date.now();
  /** Handlers that may wait long: continue-as-new lets them finish first. */
  waiters = 0;
  /** Ends of running commands; a promise rejects if its command could not run at all. */
  private readonly ends = new Map<string, Promise<CommandView>>();

  readonly tools: SessionTools;
  readonly approvals: Approvals;
  private readonly ids: SessionIds;
  private readonly typing: QueuedInputs;
  private readonly questions: QuestionsForAgent;

  constructor(
    readonly record: SessionRecord,
    private readonly published: PublishedState,
  ) {
    this.ids = new SessionIds(record);
    this.typing = new QueuedInputs(record, this.ids, (view) => this.show(view));
    this.questions = new QuestionsForAgent(record.ref.agent, record.approvals.waiting.length);
    this.approvals = new Approvals(record.approvals, () => {
      this.questions.report(this.approvals.waiting);
      this.publish();
    });
    this.tools = new SessionTools(record, this.approvals);
  }

  /** Why the session should end; null while it should not. */
  get closing(): string | null {
    return this.closingReason;
  }
  set closing(reason: string | null) {
    this.closingReason = reason;
    if (reason !== null) for (const scope of this.waits) scope.cancel();
  }

  /** After continue-as-new: the previous command is still running, and inputs may be waiting to be typed. */
  reattach(): void {
    const { command } = this.record;
    this.approvals.keepOnly((id) => this.tools.isRunning(id) || (command && idOnHost(command)) === id);
    if (command) this.track(command, true);
    this.typing.resume();
    this.tools.reattach();
  }

  checkExec(exec: ExecRequest): void {
    const { command } = this.record;
    const id = exec.id ?? currentUpdateInfo()?.id;
    this.ids.checkCommand(id, exec);
    // One that was sent before is answered with its end, whatever runs now.
    if (command?.id !== id && this.ids.isKnownCommand(id)) return;
    if (command?.trouble && !exec.reset) refuseAs(command.trouble);
    if (command && !exec.reset && command.id !== id) refuse('busy', factsOfBusy(this.record, command));
  }

  checkInput(input: InputRequest): void {
    const id = input.id ?? currentUpdateInfo()?.id;
    this.ids.checkInput(id, input);
    if (!this.record.command && !this.ids.isKnownInput(id))
      refuse('no_running_process', { session: this.record.ref.session });
  }

  checkReset(reset: ResetRequest): void {
    this.ids.checkReset(reset.id ?? currentUpdateInfo()?.id, reset);
  }

  /** Answers at the command's end, or at its yield. */
  async exec(request: ExecRequest): Promise<CommandView> {
    // Checked again: another command may have been accepted since the validator ran.
    this.checkExec(request);
    const { id = this.nextId(), reader, reset = false } = request;
    this.usedAt = Date.now();
    const isFirst = this.ids.rememberCommand(id, request);
    if (this.record.command?.id !== id) {
      if (!isFirst) return this.endAgain(id, request);
      if (reset) this.record.resets += 1;
      this.record.command = newCommand(this.record, id, request);
      this.tools.grant(id, request.tools);
      // Without a reset, only background scripts' calls can be waiting here, no command.
      if (reset) this.approvals.denyAll(REPLACED);
      this.publish();
      this.track(this.record.command, false);
    }
    const command = this.record.command;
    const end = this.ends.get(id);
    // A cancelled session ends its commands first; callers get that end.
    const first = await this.waiting(() =>
      CancellationScope.nonCancellable(() =>
        Promise.race([
          end,
          condition(() => command.yielded !== null || this.isHandingOver || command.trouble !== undefined),
        ]),
      ),
    );
    const answer = first ?? command.yielded;
    if (!answer && command.trouble) return refuseAs(command.trouble);
    if (!answer && this.isHandingOver) return refuse('draining');
    if (!answer)
      return refuse('session_lost', { session: this.record.ref.session, reason: 'it gave no view' });
    this.show(answer, reader);
    return answer;
  }

  /** The end of a command that was accepted before and no longer runs here, as the host knows it. */
  private endAgain(id: string, request: ExecRequest): Promise<CommandView> {
    const known = this.ends.get(id);
    if (known) return this.waiting(() => known);
    const command = newCommand(this.record, id, request);
    const input = { ...inputOf(this.record, command, workflowInfo().workflowId), over: SENT_BEFORE };
    const run = new CommandRun(this.approvals, command, input, () => null);
    return this.waiting(() => CancellationScope.nonCancellable(() => run.toEnd(false)));
  }

  onYielded(yielded: Yielded | undefined): void {
    if (!isYielded(yielded) || (yielded.view && !isShowable(yielded.view)))
      refuse('invalid_input', {
        what: 'The signal "yielded"',
        got: typeof yielded,
        allowed: 'what the host worker sends',
      });
    const { commandId, view, trouble, later } = yielded;
    const { command } = this.record;
    if (!command || idOnHost(command) !== commandId) return;
    this.approvals.drop(commandId);
    command.trouble = trouble ?? undefined;
    // The first one is the answer; it may be repeated.
    if (!view || (command.yielded && !later)) return;
    const shown = bindToFolder(this.record.ref, view);
    command.yielded ??= shown;
    this.show(shown);
  }

  /** Accepts an input from a signal: inputs are typed in order, many per activity. */
  signalInput(request: unknown): void {
    const input: InputRequest = checkedRequest(SESSION_MESSAGES.input, request);
    this.checkInput(input);
    const { id: inputId = this.nextId(), keyboard, enter, keys = [], prompt } = input;
    this.usedAt = Date.now();
    if (!this.ids.rememberInput(inputId, input)) return;
    const text = keyboard ?? (keys.length > 0 ? null : '');
    const typed = { text, ...(enter === false && { enter }), keys, ...(prompt && { prompt }) };
    if (!this.typing.add({ inputId, ...typed })) {
      this.ids.forgetInput(inputId);
      refuse('input_queue_full', { session: this.record.ref.session, allowed: MAX_QUEUED_INPUT_BYTES });
    }
    this.typing.resume();
  }

  /** A script calls a tool. */
  callTool(request: ToolCallRequest): Promise<ToolCallAnswer> {
    this.usedAt = Date.now();
    return this.tools.call(request);
  }

  /** With `answer` it waits for the program's reaction; without, only until the input is typed. */
  async input(request: InputRequest, answer = true): Promise<CommandView> {
    this.checkInput(request);
    const { id = this.nextId(), keyboard, enter, keys = [], prompt, reader, yield: yielding } = request;
    this.usedAt = Date.now();
    if (!this.ids.rememberInput(id, request)) return this.output(reader ? { reader } : {});
    this.ids.inputBegins(id);
    // After earlier signalled input; a key without text, which may be meant to interrupt, goes at once.
    if (keyboard !== undefined && this.typing.isTyping)
      await CancellationScope.nonCancellable(() => condition(() => !this.typing.isTyping));
    const { ref, readers } = this.record;
    const text = keyboard ?? (keys.length > 0 ? null : '');
    const from = ownValue(readers, reader) ?? null;
    const wait = answer ? { ...this.record.yield, ...yielding } : null;
    const summary = summaryOfInput(text, keys);
    try {
      const typed = { text, ...(enter === false && { enter }), keys, ...(prompt && { prompt }) };
      const input = { ref, inputId: id, ...typed, from, yield: wait };
      return await this.onHost((host) => host.sendInput.executeWithOptions({ summary }, [input]), reader);
    } catch (err) {
      // It was refused: the same id may be sent again.
      this.ids.forgetInput(id);
      throw err;
    } finally {
      this.ids.inputEnds(id);
    }
  }

  output(request: OutputRequest): Promise<CommandView> {
    const { from, maxBytes = null, wait = null, waitMs = DEFAULT_WAIT_MS, reader } = request;
    this.usedAt = Date.now();
    const { ref, readers } = this.record;
    const start = from ?? ownValue(readers, reader) ?? null;
    const summary = label(wait ? `wait for ${wait}` : 'look');
    const input = { ref, from: start, maxBytes, wait, waitMs };
    return this.onHost((host) => host.readOutput.executeWithOptions({ summary }, [input]), reader);
  }

  /** One activity for all: waiting for many costs no more history than for one. */
  async wait(request: WaitRequest): Promise<WaitResult> {
    const { ref } = this.record;
    const { input, summary } = waitOf(ref, request);
    this.usedAt = Date.now();
    const scope = new CancellationScope();
    this.waits.add(scope);
    try {
      return await this.waiting(() =>
        scope.run(() => repeatable(ref.host).waitForSessions.executeWithOptions({ summary }, [input])),
      );
    } catch (err) {
      if (isCancellation(err)) refuse('wait_ended', { session: ref.session, reason: this.closing });
      throw hostFailure(err, ref.host);
    } finally {
      this.waits.delete(scope);
    }
  }

  /** Opens the shell ahead of the first command. */
  open(): Promise<CommandView> {
    const { ref, cwd } = this.record;
    this.usedAt = Date.now();
    return this.onHost((host) => host.openSession.executeWithOptions({ summary: 'open' }, [{ ref, cwd }]));
  }

  reset(request: ResetRequest): Promise<CommandView> {
    this.checkReset(request);
    const { id = this.nextId(), reason = null } = request;
    this.usedAt = Date.now();
    const number = this.giveUp(id, `the session was reset${reason === null ? '' : `: ${reason}`}`);
    const input = { ref: this.record.ref, resetId: id, reason, ...(number !== null && { number }) };
    const done = this.onHost((host) =>
      host.resetSession.executeWithOptions({ summary: label(reason ?? 'reset') }, [input]),
    );
    return this.ids.rememberedReset(done, id, request);
  }

  /** What waits to begin is ended with what runs. Returns which reset this is; null for a repeated one. */
  private giveUp(resetId: string, reason: string): number | null {
    if (this.ids.isKnownReset(resetId)) return null;
    this.approvals.denyAll(reason);
    const { record } = this;
    if (record.command) record.command.over = reason;
    return (record.resets += 1);
  }

  private track(command: RunningCommand, attached: boolean): void {
    const { id: commandId, runtime } = command;
    const input = inputOf(this.record, command, workflowInfo().workflowId);
    // Not part of any handler: it continues after the yield, and only a reset or a close ends it.
    const over = (): string | null =>
      this.closing ?? (this.record.command === command ? (command.over ?? null) : REPLACED);
    const end = CancellationScope.nonCancellable(() =>
      new CommandRun(this.approvals, command, input, over).toEnd(attached),
    );
    const settled = end.finally(() => {
      if (this.record.command === command) this.record.command = null;
      this.ends.delete(commandId);
    });
    this.ends.set(commandId, settled);
    logCommand(command, settled);
    settled.then(
      // A replaced command ends while the next one runs: the session then shows the next one.
      (view) => {
        commandEnded(runtime, view);
        if (view.state === 'lost') this.tools.cancelOf(idOnHost(command), 'its command was lost');
        if (this.record.command === null) this.show(view);
      },
      // Waiting callers get the error. The host may have refused the id for its content: it remembers ids for longer.
      (err: unknown) => {
        commandFailed(runtime, err);
        this.ids.forgetCommand(commandId);
        this.publish();
      },
    );
  }

  /**
   * Runs one activity on the session's host, and applies its view to the session. A session that is cancelled closes its
   * terminal: callers get what came of that.
   */
  private onHost(
    work: (host: ReturnType<typeof repeatable>) => Promise<CommandView>,
    reader?: string,
  ): Promise<CommandView> {
    return CancellationScope.nonCancellable(() => this.askedOfHost(work, reader));
  }

  private async askedOfHost(
    work: (host: ReturnType<typeof repeatable>) => Promise<CommandView>,
    reader?: string,
  ): Promise<CommandView> {
    const { command, ref } = this.record;
    let view: CommandView;
    try {
      view = bindToFolder(ref, await this.waiting(() => work(repeatable(ref.host))));
    } catch (err) {
      throw hostFailure(err, ref.host);
    }
    // A view that shows the end is returned only when the end is recorded here, so that the next command is accepted.
    if (hasEnded(view) && command && idOnHost(command) === view.commandId)
      await condition(() => this.record.command !== command, SETTLE_MS);
    this.show(view, reader);
    return view;
  }

  private show(view: CommandView, reader?: string): void {
    showView(this.record, view, reader);
    this.publish();
  }

  /** Updates the page and the search attributes; to be called when the state changes. */
  private publish(): void {
    this.published.publish(workStateOf(this.record), noticesOf(this.record));
    setCurrentDetails(sessionDetails(this.record));
  }

  private async waiting<T>(work: () => Promise<T>): Promise<T> {
    this.waiters += 1;
    try {
      return await work();
    } finally {
      this.waiters -= 1;
    }
  }

  private nextId(): string {
    // Includes the first run's id: a later session on the same shell starts counting again.
    return currentUpdateInfo()?.id ?? `${workflowInfo().firstExecutionRunId}-s${++this.record.sequence}`;
  }
}
