// Carries the calls of a host's scripts to their sessions' workflows and the outcomes back. Open calls stay with the
// holder: the next worker sends them again under the same id and gets the recorded outcome.
import { setTimeout as delay } from 'node:timers/promises';
import type { HoldfastClient } from '../../client/holdfast-client';
import { inTrace } from '../../client/delivery/traced-client';
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { isPassing } from '../../contracts/errors/passing';
import { sessionWorkflowId, type SessionRef } from '../../contracts/ids';
import type { TraceContext } from '../../contracts/telemetry/trace';
import { advance, ASKED, isKept, isOpen } from '../../contracts/tools/call-state';
import type { BlobRef, ToolCallAnswer, ToolCallRequest, ToolOutcome } from '../../contracts/tools/tools';
import type { CancelledCall, ScriptCall } from '../../exec/protocol';
import type { Terminals } from '../../exec/terminals';
import type { ToolRegistry } from '../../tools/registry';
import type { Tool } from '../../tools/tool';
import { whyUnreachable } from '../blobs/blob-store';
import type { LargeValues } from '../blobs/large-values';
import { SlowCalls, type FollowedCall } from './slow-calls';
import { showingArguments, type ToolRulings } from './tool-ruling';
import { crashPoint } from '../../system/faults/crash-point';
import { Slots } from '../slots';

/** The server accepts ten updates of a run at a time: control messages must not wait behind calls. */
const OPEN_UPDATES = 6;
const AGAIN_MS = 500;
const UNKNOWN_AGAIN = 10;
const DEFAULT_TIMEOUT_MS = 24 * 3_600_000;
/** From the first page of calls; longer than it takes to read all that may be open, 256 MiB over a local socket. */
const OLD_CALLS_MS = 60_000;
/** The id of no call: the session answers a question that names it at once, and does not wait for calls to end. */
const NO_CALL = 'none';
/** Ids per message: a tenth of what its schema allows. */
const MAX_ANSWERED = 1_000;

/** Tools that other machines offer, which come and go. */
export interface OffersElsewhere {
  /** Resolves once they are those of a moment after this call, or are not to be had. */
  refresh(): Promise<void>;
  /** Scripts may call tools from now on. */
  used(): void;
}

export interface ToolChannelOptions {
  client: HoldfastClient;
  sessions: Terminals;
  tools: ToolRegistry;
  blobs: LargeValues;
  rulings: ToolRulings;
  offers?: OffersElsewhere | undefined;
  /** Where a command's calls belong; undefined: nothing is traced. */
  traceOf: (ref: SessionRef, commandId: string) => TraceContext | undefined;
  log: (message: string, facts: object) => void;
}

export class ToolChannel {
  private readonly served = new Map<string, AbortController>();

  constructor(private readonly options: ToolChannelOptions) {}

  /**
   * Serves the scripts of a session until `detach`, or until its terminal is gone; repeated requests are ignored.
   * `isAdopted`: an earlier worker may have served it.
   */
  serve(ref: SessionRef, { isAdopted = false } = {}): void {
    const key = sessionWorkflowId(ref);
    if (this.served.has(key)) return;
    const abort = new AbortController();
    this.served.set(key, abort);
    this.options.offers?.used();
    void this.serveWhileOpen(ref, abort.signal, isAdopted).finally(() => {
      if (this.served.get(key) === abort) this.served.delete(key);
    });
  }

  private async serveWhileOpen(ref: SessionRef, signal: AbortSignal, isAdopted: boolean): Promise<void> {
    const { sessions, log } = this.options;
    for (let isAgain = isAdopted; ; isAgain = true) {
      try {
        return await new SessionChannel(this.options, ref, signal).run(isAgain);
      } catch (err) {
        if (signal.aborted) return;
        const facts = { session: sessionWorkflowId(ref), error: reasonOf(err) };
        log('the scripts of a session are not served', facts);
      }
      await delay(AGAIN_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted || !sessions.isOpen(ref)) return;
    }
  }

  /** Disconnects all; open calls stay at the holders for the next worker. */
  detach(): void {
    for (const abort of this.served.values()) abort.abort();
    this.served.clear();
  }
}

interface OpenCall extends ScriptCall, FollowedCall {
  /** An earlier worker may have sent it to the session. */
  mayBeKnown: boolean;
  /** Aborts when it is not waited for any more. */
  abort: AbortController;
}

/** The calls of one session's scripts. */
class SessionChannel {
  private readonly session: SessionHandle;
  private readonly slots = new Slots(OPEN_UPDATES);
  private readonly open = new Map<string, OpenCall>();
  private readonly slow: SlowCalls;
  /** Arguments of open calls that are stored in files here. */
  private readonly args = new Map<string, BlobRef>();
  /** Ids of calls whose scripts have the outcome, so the session may forget them. */
  private readonly answered: string[] = [];

  constructor(
    private readonly options: ToolChannelOptions,
    private readonly ref: SessionRef,
    private readonly signal: AbortSignal,
  ) {
    this.session = options.client.session(ref);
    this.slow = new SlowCalls(this.session, this.open, signal);
  }

  /** @param isAdopted whether there may be calls from before: the holder presents them first */
  async run(isAdopted: boolean): Promise<void> {
    let newSince = isAdopted ? undefined : -Infinity;
    for (let seen = 0; !this.signal.aborted;) {
      const news = await this.options.sessions.toolCalls(this.ref, seen, this.signal);
      if (!news) return this.cancelAll('its terminal is gone');
      seen = news.version;
      newSince ??= performance.now() + OLD_CALLS_MS;
      const mayBeKnown = performance.now() < newSince;
      for (const asked of news.calls) {
        const call = { ...asked, mayBeKnown, state: ASKED, abort: new AbortController() };
        const trace = this.options.traceOf(this.ref, call.commandId);
        void (trace ? inTrace(trace, () => this.handle(call)) : this.handle(call));
      }
      for (const call of news.cancelled) void this.cancel(call);
    }
  }

  private async handle(call: OpenCall): Promise<void> {
    this.open.set(call.id, call);
    const over = AbortSignal.any([call.abort.signal, this.signal]);
    try {
      crashPoint('call-arrived');
      const outcome = await this.outcomeOf(call, over);
      advance(call, { type: 'ended', outcome });
      crashPoint('call-recorded');
      await this.deliver(call, outcome, over);
      crashPoint('call-answered');
    } catch (err) {
      if (!over.aborted) await this.giveFailure(call, err, over);
    } finally {
      this.open.delete(call.id);
      this.release(call.id);
    }
  }

  /** Invalid input costs no history. */
  private async outcomeOf(call: OpenCall, over: AbortSignal): Promise<ToolOutcome> {
    let request: ToolCallRequest;
    try {
      request = await this.requestOf(call, over);
    } catch (err) {
      // It may have run, whatever policy and tools say by now.
      const outcome = call.mayBeKnown && (await this.patiently(call, over, () => this.known(call, over)));
      if (outcome) return outcome;
      if (err instanceof HoldfastError) return err.toOutcome();
      throw err;
    }
    return this.patiently(call, over, () => this.ask(call, request, over));
  }

  /** Passing trouble is waited out, since the script waits too. */
  private async patiently<T>(
    call: OpenCall,
    over: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T | ToolOutcome> {
    for (let unknown = 0; ;) {
      try {
        return await work();
      } catch (err) {
        if (over.aborted) throw err;
        if (err instanceof HoldfastError && !err.retryable) return err.toOutcome();
        // Unknown errors may pass too, but the script must not hang for ever. The same id runs nothing twice.
        if (!(err instanceof HoldfastError) && ++unknown > UNKNOWN_AGAIN) throw err;
        this.options.log('a call is sent again', { call: call.id, error: whyOf(err) });
        await delay(AGAIN_MS, undefined, { signal: over });
      }
    }
  }

  /** The outcome of a call that an earlier worker sent; null if the session does not know it: nothing has run. */
  private async known(call: OpenCall, over: AbortSignal): Promise<ToolOutcome | null> {
    const { id } = call;
    const { outcomes, unknown } = await this.slots.with(over, () =>
      this.session.toolResults({ ids: [id, NO_CALL] }),
    );
    if (unknown.includes(id)) return null;
    over.throwIfAborted();
    advance(call, { type: 'recorded' });
    return outcomes[id] ?? this.slow.outcomeOf(call, over);
  }

  private async requestOf(
    { id, commandId, tool: name, args, cwd }: ScriptCall,
    over: AbortSignal,
  ): Promise<ToolCallRequest> {
    const { tools, blobs, rulings } = this.options;
    const tool = await this.toolOf(name);
    await tools.check(tool, args);
    const { agent, host } = this.ref;
    const { hold, denied } = await rulings.of({ agent, tool: name, args, place: { host, cwd } });
    if (denied !== undefined) throw new HoldfastError('policy_denied', { reasons: denied });
    const { effects, runsOn = 'anywhere', timeoutMs = DEFAULT_TIMEOUT_MS, secret } = tool;
    const owner = { agent, id: `${this.session.workflowId}/${id}` };
    const fitted = await blobs.fitArgs(owner, args, over);
    if (fitted.blob) this.args.set(id, fitted.blob);
    return {
      id,
      commandId,
      tool: name,
      ...fitted,
      cwd,
      effects,
      runsOn,
      timeoutMs,
      ...(secret && { secret }),
      ...(hold && { hold: fitted.blob ? showingArguments(hold, args) : hold }),
    };
  }

  private async toolOf(name: string): Promise<Tool> {
    const { tools, offers } = this.options;
    try {
      return tools.find(name);
    } catch {
      // A worker that has just started does not know the tools of its MCP servers yet, nor a host those of the agents.
      await Promise.all([tools.settled(), offers?.refresh()]);
      return tools.find(name);
    }
  }

  private async ask(call: OpenCall, request: ToolCallRequest, over: AbortSignal): Promise<ToolOutcome> {
    const answer = await this.slots.with(over, () => this.send(request));
    const { id } = request;
    if (!advance(call, { type: 'recorded' }) && !isOpen(call.state)) {
      // The cancellation reached the session before the call did, and has perhaps been acknowledged.
      if (answer.pending && !this.signal.aborted)
        await this.session.cancelTools({ ids: [id], reason: 'nobody waits for it any more' });
      this.answered.push(id);
    }
    if (!answer.pending) return answer.outcome;
    over.throwIfAborted();
    return this.slow.outcomeOf(call, over);
  }

  private async send(request: ToolCallRequest): Promise<ToolCallAnswer> {
    const answered = this.answered.splice(0, MAX_ANSWERED);
    try {
      return await this.session.callTool({ ...request, answered });
    } catch (err) {
      // A refused message was not read: the next one repeats it.
      this.answered.unshift(...answered);
      throw err;
    }
  }

  private async deliver(call: OpenCall, outcome: ToolOutcome, over: AbortSignal): Promise<void> {
    try {
      if (over.aborted) return;
      const answer = await this.answerOf(call, outcome, over);
      if (!over.aborted) await this.give(call, answer, over);
    } finally {
      // The script has it, or is gone. If this worker stops, the next one delivers it.
      if ('blob' in outcome && !this.signal.aborted)
        this.options.blobs.releaseResult(this.ref.agent, outcome.blob);
    }
  }

  /** The call is over: its arguments are not needed any more. If this worker stops, it is still open. */
  private release(id: string): void {
    const blob = this.args.get(id);
    this.args.delete(id);
    if (blob && !this.signal.aborted) this.options.blobs.releaseArgs(this.ref.agent, blob);
  }

  /** With the value itself, which may be on another machine. The tool has run: a failure here does not undo that. */
  private async answerOf({ tool }: ScriptCall, outcome: ToolOutcome, over: AbortSignal): Promise<Answer> {
    if (!('blob' in outcome)) return outcome;
    const { blob } = outcome;
    try {
      return { ok: true, value: await this.options.blobs.read(this.ref.agent, blob, over) };
    } catch (err) {
      const reason = `${blob.bytes} bytes at ${blob.at ?? 'another machine'} cannot be read: ${whyUnreachable(err)}`;
      return new HoldfastError('result_undelivered', { tool, reason }).toOutcome();
    }
  }

  private async give(call: OpenCall, answer: Answer, over: AbortSignal): Promise<void> {
    const { id } = call;
    await this.answerHolder(id, answer, over);
    // Sent with the next message; the session may not know the call any more.
    if (isKept(call.state)) this.answered.push(id);
    advance(call, { type: 'delivered' });
  }

  /** A holder that is stopped keeps the call open, and does not announce it again when it continues: it is waited for. */
  private async answerHolder(id: string, answer: Answer, over: AbortSignal): Promise<void> {
    for (let isReported = false; ; isReported = true) {
      try {
        return await this.options.sessions.answerCall(this.ref, { id, answer: { callId: id, ...answer } });
      } catch (err) {
        if (over.aborted || !isPassing(err)) throw err;
        if (!isReported)
          this.options.log('a call could not be answered yet', { call: id, error: whyOf(err) });
      }
      await delay(AGAIN_MS, undefined, { signal: over });
    }
  }

  /** Reports any failure to the script, which would wait for ever otherwise. */
  private async giveFailure(call: OpenCall, err: unknown, over: AbortSignal): Promise<void> {
    const { id } = call;
    const reason = whyOf(err);
    this.options.log('a call could not be answered', { call: id, error: reason });
    const known = err instanceof HoldfastError ? err : new HoldfastError('internal', { reason });
    // A failure here means that its holder is gone, and the script with it.
    advance(call, { type: 'ended', outcome: known.toOutcome() });
    await this.give(call, known.toOutcome(), over).catch(() => undefined);
  }

  /** Their scripts have ended with the terminal. If this worker is stopping instead, the next one serves them. */
  private cancelAll(reason: string): void {
    if (this.signal.aborted) return;
    for (const { id, state } of this.open.values()) if (isOpen(state)) void this.cancel({ id, reason });
  }

  private async cancel({ id, reason }: CancelledCall): Promise<void> {
    const call = this.open.get(id);
    if (call) advance(call, { type: 'cancelled', reason });
    call?.abort.abort();
    if (!(await this.isCancelled(id, reason))) return;
    const cancelled = new HoldfastError('call_cancelled', { tool: id, reason }).toOutcome();
    await this.answerHolder(id, cancelled, this.signal).catch(() => undefined);
    if (call) advance(call, { type: 'delivered' });
    // An earlier worker may have had it recorded.
    this.answered.push(id);
  }

  /**
   * A call continues until its session hears of the cancellation: it is notified as soon as possible. False if this channel
   * is detached.
   */
  private async isCancelled(id: string, reason: string): Promise<boolean> {
    while (!this.signal.aborted) {
      try {
        await this.session.cancelTools({ ids: [id], reason });
        return true;
      } catch (err) {
        // A session that has ended runs none of its calls.
        if (err instanceof HoldfastError && !err.retryable) return true;
        this.options.log('a call could not be cancelled yet', { call: id, error: reasonOf(err) });
        await delay(AGAIN_MS, undefined, { signal: this.signal }).catch(() => undefined);
      }
    }
    return false;
  }
}

/** What a script receives. */
type Answer = Exclude<ToolOutcome, { blob: BlobRef }>;

/** The SDK wraps the other side's error. */
const whyOf = (err: unknown): string => reasonOf((err instanceof Error && err.cause) || err);
