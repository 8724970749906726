// The tool calls of a session's scripts: who may call what; each call runs once, as an activity, and its outcome is
// kept until the script has it.
import {
  ActivityFailure,
  CancellationScope,
  condition,
  isCancellation,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { fromFailure } from '../../contracts/errors/failure';
import { label } from '../../contracts/text/labels';
import { callContent, contentHash } from '../../contracts/message-content';
import { ownValue, setOwn } from '../../contracts/own';
import { jsonBytes, MAX_RESULTS_BYTES } from '../../contracts/payload-size';
import {
  advance,
  ASKED,
  isOpen,
  isSlow,
  mayStart,
  nextCallState,
  outcomeOf,
  type CallEvent,
} from '../../contracts/tools/call-state';
import { argumentsOf } from '../../contracts/tools/shown-values';
import type { ToolGrant } from '../../contracts/schemas/session';
import { DEFAULT_TOOL_CALLS } from '../../contracts/tools/tool-grant';
import {
  type CancelToolsRequest,
  type HeldCall,
  type ToolCallAnswer,
  type ToolCallRequest,
  type ToolInvocation,
  type ToolOutcome,
  type ToolResults,
  type ToolResultsRequest,
} from '../../contracts/tools/tools';
import { withTime, type Approvals } from '../messages/approvals';
import { idAgain } from './command-run';
import { hostFailure } from '../host/host-activities';
import { scriptCalled } from '../messages/metered';
import { refuse } from '../messages/refusal';
import { carriedCalls, withoutArgs, type CallRecords, type SessionCall } from './call-record';
import type { CommandGrant, SessionRecord } from './session-record';
import { heardHere, RETRY, toolsOn } from '../turn/calls/tool-activities';

/** Commands whose scripts may still call: background jobs outlive their command. The holder keeps as many tokens. */
const REMEMBERED_GRANTS = 32;
/** After this, a call's update is answered early: only ten updates may be open per run. */
const SLOW_MS = 3_000;
const RESULTS_WAIT_MS = 30_000;
/** Beyond the tool's own time: sources of tools connect, and large values wait a minute each time for their bucket. */
const AROUND_TOOL_MS = 600_000;

export class SessionTools {
  private readonly scopes = new Map<string, CancellationScope>();
  private readonly startedAt = new Map<string, number>();
  /** Rises with time while calls are awaited: a wait that began before the last beat is long. */
  private beats = 0;
  private isBeating = false;
  private waiting = 0;
  /** How many calls have ended whose callers wait for results. */
  private slowEnds = 0;

  constructor(
    private readonly record: SessionRecord,
    private readonly approvals: Approvals,
  ) {}

  /** Whether any script has made a call since the session's workflow began, across continue-as-new. */
  get wasUsed(): boolean {
    return this.record.calls !== undefined;
  }

  /** When the longest-running call began, in workflow time; null if none is running. */
  get oldestRunning(): number | null {
    return this.startedAt.size === 0 ? null : Math.min(...this.startedAt.values());
  }

  isRunning(id: string): boolean {
    const known = this.known(id);
    return known !== undefined && isOpen(known.state);
  }

  /** From now on this command's scripts may call what `grant` allows. */
  grant(commandId: string, grant: ToolGrant = {}): void {
    const { grants } = this.record;
    if (grants.some((known) => known.commandId === commandId)) return;
    grants.push({ ...grant, commandId, used: 0 });
    if (grants.length > REMEMBERED_GRANTS) grants.shift();
  }

  checkCall(call: ToolCallRequest): void {
    const known = this.known(call.id);
    if (known) {
      // A call that was cancelled before it arrived has no hash: it matches any content.
      const isOther = known.hash !== undefined && known.hash !== contentHash(call.id, callContent(call));
      if (isOther) refuse('id_conflict', { got: call.id });
      return;
    }
    const grant = this.grantOf(call.commandId);
    if (!grant) return refuse('script_ended', { reason: 'its command is too old' });
    const { allowed, calls = DEFAULT_TOOL_CALLS, used } = grant;
    if (allowed && !allowed.includes(call.tool))
      refuse('tool_not_allowed', { got: call.tool, allowed: allowed.join(', ') || 'none' });
    if (used >= calls) refuse('budget_exceeded', { what: 'tool calls', got: used + 1, allowed: calls });
  }

  /** Answers with the outcome, or after a moment with `pending`. Repeating the same id runs nothing. */
  async call({ answered = [], ...call }: ToolCallRequest): Promise<ToolCallAnswer> {
    this.checkCall(call);
    this.forget(answered);
    const known = this.known(call.id) ?? this.start(call);
    const since = this.beats;
    this.waiting += 1;
    this.beat();
    // Interleaves with its activity and with cancellation, which both set its outcome.
    await condition(() => !isOpen(known.state) || this.beats > since + 1);
    this.waiting -= 1;
    advance(known, { type: 'slow' });
    const outcome = outcomeIn(known);
    return outcome ? { pending: false, outcome } : { pending: true };
  }

  /** Answers when one of the calls has ended, or after a while, with as many outcomes as fit. */
  async results({ ids, answered = [] }: ToolResultsRequest): Promise<ToolResults> {
    this.forget(answered);
    const unknown = ids.filter((id) => !this.known(id));
    for (const id of ids) this.change(id, { type: 'slow' });
    const before = this.slowEnds;
    // The end of a call outside `ids`, which came later, ends the wait too: the caller then asks for that one.
    if (unknown.length === 0 && !ids.some((id) => this.outcome(id)))
      await condition(() => this.slowEnds > before, RESULTS_WAIT_MS);
    return { outcomes: this.outcomesOf(ids), unknown };
  }

  /** Those of the first calls, as many as fit into one answer; the others are asked for again. */
  private outcomesOf(ids: readonly string[]): ToolResults['outcomes'] {
    const outcomes: ToolResults['outcomes'] = {};
    let bytes = 0;
    for (const id of ids) {
      const outcome = this.outcome(id);
      if (!outcome) continue;
      bytes += jsonBytes(outcome);
      if (bytes > MAX_RESULTS_BYTES && Object.keys(outcomes).length > 0) break;
      setOwn(outcomes, id, outcome);
    }
    return outcomes;
  }

  private outcome(id: string): ToolOutcome | null {
    const known = this.known(id);
    return known ? outcomeIn(known) : null;
  }

  cancel({ ids, reason }: CancelToolsRequest): void {
    for (const id of ids) {
      // The cancellation may arrive before its call, perhaps in an earlier run: the call is then not run.
      if (!this.known(id)) this.keep({ ...NO_CALL, id });
      this.end(id, reason);
    }
  }

  /** The scripts of this command have ended with their terminal: their calls are not waited for. */
  cancelOf(commandId: string, reason: string): void {
    const open = Object.values(this.record.calls ?? {}).filter(
      ({ request, state }) => request.commandId === commandId && isOpen(state),
    );
    for (const { request } of open) this.end(request.id, reason);
  }

  cancelAll(reason: string): void {
    for (const id of Object.keys(this.record.calls ?? {})) this.end(id, reason);
  }

  /** After continue-as-new: runs unfinished calls again under their keys, except those that may run only once. */
  reattach(): void {
    for (const call of Object.values(this.record.calls ?? {})) {
      const { tool, effects } = call.request;
      if (mayStart(call.state, effects)) this.run(call);
      else this.settle(call, unknownOutcome(tool, 'its session continued as new in the meantime'));
    }
  }

  /** For the next run. The outcome of the oldest calls is unknown to their callers if not all fit. */
  carried(): CallRecords {
    return carriedCalls(this.record.calls ?? {}, (call) => {
      const reason = 'it could not be kept when its session continued as new';
      const outcome = unknownOutcome(call.request.tool, reason);
      this.settle(call, outcome);
      return outcome;
    });
  }

  /** Ids come from outside, and the record is a plain object: `constructor` is not a call. */
  private known(id: string): SessionCall | undefined {
    return ownValue(this.record.calls, id);
  }

  private keep(request: SessionCall['request'], hash?: string): SessionCall {
    const call: SessionCall = { request, state: nextCallState(ASKED, { type: 'recorded' }), hash };
    setOwn((this.record.calls ??= {}), request.id, call);
    return call;
  }

  /** False if there is no such call, or nothing changes. */
  private change(id: string, event: CallEvent): boolean {
    const known = this.known(id);
    return known !== undefined && advance(known, event);
  }

  private grantOf(commandId: string): CommandGrant | undefined {
    return this.record.grants.find(({ commandId: id }) => id === commandId || idAgain(id) === commandId);
  }

  private start(request: SessionCall['request']): SessionCall {
    const grant = this.grantOf(request.commandId);
    if (grant) grant.used += 1;
    const call = this.keep(request, contentHash(request.id, callContent(request)));
    this.run(call);
    return call;
  }

  /** Not part of any handler: it continues after its update has been answered. */
  private run(call: SessionCall): void {
    const { id, tool } = call.request;
    const scope = new CancellationScope();
    this.scopes.set(id, scope);
    this.startedAt.set(id, Date.now());
    scope
      .run(() => this.invokeApproved(call))
      .then(
        (outcome) => this.settle(call, outcome),
        (err: unknown) => this.settle(call, failedOutcome(tool, err, this.record.ref.host)),
      )
      .finally(() => {
        this.scopes.delete(id);
        this.startedAt.delete(id);
      });
  }

  /**
   * A call that waits for an approval has not begun; after continue-as-new the approval is asked for again. The tool's
   * worker may hold what the script's host does not.
   */
  private async invokeApproved(call: SessionCall): Promise<ToolOutcome> {
    for (;;) {
      const { id, hold, tool: runs, args } = call.request;
      // One that was approved before continue-as-new runs already.
      if (hold && call.state.is !== 'running') {
        advance(call, { type: 'held' });
        const values = hold.values ?? argumentsOf(args, hold.secret);
        const asked = { ...hold, id, agent: this.record.ref.agent, runs, values };
        const askedAt = await this.approvals.ask({ ...asked, what: `script: ${hold.what}` });
        call.request = { ...call.request, hold: withTime(hold, askedAt) };
      }
      advance(call, { type: 'begun' });
      const answer = await this.invoke(call);
      if (!('held' in answer)) return answer;
      call.request = { ...call.request, hold: answer.held };
      advance(call, { type: 'held' });
    }
  }

  private invoke({ request }: SessionCall): Promise<ToolOutcome | HeldCall> {
    const { id, commandId, tool, args, blob, cwd, effects, runsOn, timeoutMs, secret, hold } = request;
    const { ref } = this.record;
    const { allowed, calls = DEFAULT_TOOL_CALLS, used = 0, within = [] } = this.grantOf(commandId) ?? {};
    const caller = {
      session: ref.session,
      commandId,
      cwd,
      within: [...within, ref.session],
      callsLeft: Math.max(0, calls - used),
      allowed,
    };
    const invocation: ToolInvocation = {
      agent: ref.agent,
      key: `${workflowInfo().firstExecutionRunId}/call/${id}`,
      call: { callId: id, tool, args, ...(hold && { hold }) },
      blob,
      settings: { host: ref.host, ...(this.record.cwd !== null && { cwd: this.record.cwd }) },
      caller,
      mayHold: true,
    };
    const shown = secret || blob ? '' : ` ${JSON.stringify(args)}`;
    const tools = toolsOn(runsOn === 'host' ? ref.host : null, {
      // Normally the tool's worker ends it in time, and knows why: this covers a worker that does not.
      startToCloseTimeout: timeoutMs + AROUND_TOOL_MS,
      retry: effects === 'once' ? { maximumAttempts: 1 } : RETRY,
    });
    const summary = label(`script: ${tool}${shown}`, 100);
    return heardHere(invocation.key, tools.invokeTool.executeWithOptions({ summary }, [invocation]));
  }

  private end(id: string, reason: string): void {
    const call = this.known(id);
    if (call && this.over(call, { type: 'cancelled', reason })) this.scopes.get(id)?.cancel();
  }

  private settle(call: SessionCall, outcome: ToolOutcome): void {
    this.over(call, { type: 'ended', outcome });
  }

  /** False if it was over before. */
  private over(call: SessionCall, event: CallEvent): boolean {
    const wasSlow = isSlow(call.state);
    const { tool } = call.request;
    if (!advance(call, event)) return false;
    if (tool !== '') scriptCalled(tool, event.type === 'ended' ? event.outcome : 'cancelled');
    call.request = withoutArgs(call);
    if (wasSlow) this.slowEnds += 1;
    return true;
  }

  private forget(ids: readonly string[]): void {
    for (const id of ids) if (this.change(id, { type: 'delivered' })) delete this.record.calls?.[id];
  }

  /** One timer for all awaited calls, so that a quick one needs no timer. */
  private beat(): void {
    if (this.isBeating) return;
    this.isBeating = true;
    sleep(SLOW_MS / 2).then(
      () => {
        this.isBeating = false;
        this.beats += 1;
        if (this.waiting > 0) this.beat();
      },
      // The session is cancelled.
      () => undefined,
    );
  }
}

/** Placeholder for a call that was cancelled before it arrived. */
const NO_CALL: Omit<SessionCall['request'], 'id'> = {
  commandId: '',
  tool: '',
  args: {},
  cwd: '',
  effects: 'read_only',
  runsOn: 'anywhere',
  timeoutMs: 0,
};

const outcomeIn = ({ request, state }: SessionCall): ToolOutcome | null =>
  outcomeOf(state, request.tool || request.id);

const unknownOutcome = (tool: string, reason: string): ToolOutcome =>
  new HoldfastError('unknown_outcome', { what: `the call to ${tool}`, reason }).toOutcome();

function failedOutcome(tool: string, err: unknown, host: string): ToolOutcome {
  if (isCancellation(err))
    return new HoldfastError('call_cancelled', { tool, reason: 'the session was cancelled' }).toOutcome();
  const known = fromFailure(hostFailure(err, host));
  if (known) return known.toOutcome();
  const cause = err instanceof ActivityFailure ? err.cause : err;
  const reason =
    cause instanceof TimeoutFailure
      ? 'it timed out, or its worker was lost'
      : `its worker was lost, or it failed: ${reasonOf(cause)}`;
  return unknownOutcome(tool, reason);
}
