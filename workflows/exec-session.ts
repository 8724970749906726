// `execSession`: the durable side of one persistent shell. It decides what runs when and remembers what is
// known; the shell itself lives in its holder on the host. Signals and updates feed the same methods.
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  currentUpdateInfo,
  isCancellation,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { defineSearchAttributeKey } from '@temporalio/common';
import { fromFailure } from '../contracts/failure';
import { parseSessionWorkflowId, type SessionRef } from '../contracts/ids';
import { SEARCH_ATTRIBUTES } from '../contracts/messages';
import { execSchema, inputSchema, outputSchema, resetSchema, sessionInputSchema } from '../contracts/schemas/session';
import type {
  CommandView,
  ExecRequest,
  InputRequest,
  OutputRequest,
  ResetRequest,
  SessionInput,
} from '../contracts/session';
import { hostFailure, repeatable, runCommand } from './host-activities';
import { checked, refuse } from './refusal';
import * as messages from './session-definitions';
import {
  forgetInput,
  newSessionRecord,
  recordRefusal,
  rememberInput,
  sessionState,
  showView,
  type RunningCommand,
  type SessionRecord,
} from './session-record';

/** Replaying an event costs about half a millisecond: a history stays below a second of it. */
const CONTINUE_AT_EVENTS = 2_000;
/** Above this, callers that wait long no longer hold back continue-as-new. */
const CONTINUE_AT_ANY_COST_EVENTS = 8_000;
const DEFAULT_WAIT_MS = 60_000;

/** Starts anew from `input`, or goes on from `carried` after continue-as-new. */
export async function execSession(input?: SessionInput, carried?: SessionRecord): Promise<void> {
  const session = carried ? new ExecSession(carried) : openSession(input);
  session.listen();
  try {
    await session.live();
  } catch (err) {
    if (isCancellation(err)) await CancellationScope.nonCancellable(() => session.close('the session was cancelled'));
    throw err;
  }
}

function openSession(input: SessionInput | undefined): ExecSession {
  const settings = checked(sessionInputSchema, 'The input of execSession', input);
  const named = parseSessionWorkflowId(workflowInfo().workflowId);
  const ref: SessionRef = named ?? {
    agent: settings.agent ?? refuse('invalid_input', MISSING_AGENT),
    host: settings.host ?? 'local',
    session: settings.session ?? 0,
  };
  upsertSearchAttributes([
    { key: defineSearchAttributeKey(SEARCH_ATTRIBUTES.agent, 'KEYWORD'), value: ref.agent },
    { key: defineSearchAttributeKey(SEARCH_ATTRIBUTES.host, 'KEYWORD'), value: ref.host },
    { key: defineSearchAttributeKey(SEARCH_ATTRIBUTES.session, 'INT'), value: ref.session },
  ]);
  return new ExecSession(newSessionRecord(ref, settings));
}

const MISSING_AGENT = {
  what: 'The agent of the session',
  got: 'nothing',
  allowed: 'a workflow id exec/<agent>/<host>/<n>, or an input with agent, host and session',
};

class ExecSession {
  private phase: 'open' | 'draining' | 'closed' = 'open';
  private closing: string | null = null;
  private usedAt = Date.now();
  /** Handlers that may wait long: continue-as-new lets them finish first. */
  private waiters = 0;

  constructor(private readonly record: SessionRecord) {}

  listen(): void {
    const open = (check: () => void) => (): void => {
      if (this.phase === 'draining') refuse('draining');
      if (this.closing !== null) refuse('session_closed', { session: this.record.ref.session, reason: this.closing });
      check();
    };
    setHandler(messages.execUpdate, (request?: ExecRequest) => this.exec(request), {
      validator: (request?: ExecRequest) => open(() => this.checkExec(request))(),
      description: 'Run code: {"code":"ls -la"} or {"runtime":"python","code":"print(1)"}',
    });
    setHandler(messages.inputUpdate, (request?: InputRequest) => this.input(request), {
      validator: (request?: InputRequest) => open(() => this.checkInput(request))(),
      description: 'Type into the waiting process: {"keyboard":"Y"} or {"keys":["ctrl-c"]}',
    });
    setHandler(messages.outputUpdate, (request?: OutputRequest) => this.output(request), {
      validator: (request?: OutputRequest) => open(() => void checked(outputSchema, 'The output request', request))(),
      description: 'Look: {} or {"from":0,"maxBytes":65536} or {"wait":"exit","waitMs":10000}',
    });
    setHandler(messages.resetUpdate, (request?: ResetRequest) => this.reset(request), {
      validator: (request?: ResetRequest) => open(() => void checked(resetSchema, 'The reset request', request))(),
      description: 'End everything that runs here: {"reason":"it hangs"}',
    });
    setHandler(messages.inputSignal, (request?: InputRequest) => this.signalled(() => this.input(this.checkInput(request), false)), {
      description: 'Type into the waiting process: {"keyboard":"Y"}',
    });
    setHandler(messages.pollSignal, () => this.signalled(() => this.output({})), {
      description: 'Look at the output again; then read the query "output"',
    });
    setHandler(messages.resetSignal, (request?: ResetRequest) => this.signalled(() => this.reset(request)), {
      description: 'End everything that runs here: {"reason":"it hangs"}',
    });
    setHandler(messages.closeSignal, (request?: ResetRequest) => {
      this.closing ??= checked(resetSchema, 'The close request', request).reason ?? 'it was closed';
    });
    setHandler(messages.yieldedSignal, ({ commandId, view }) => {
      if (this.record.command?.id !== commandId || this.record.command.yielded) return;
      this.record.command.yielded = view;
      this.show(view);
    });
    setHandler(messages.outputQuery, () => this.record.view, { description: 'The last known view' });
    setHandler(messages.stateQuery, () => sessionState(this.record, this.phase));
  }

  /** Lives until it is closed, idle for too long, or has a history that is long enough. */
  async live(): Promise<void> {
    if (this.record.command) this.track(this.record.command, true);
    while (this.closing === null) {
      const idleMs = this.usedAt + this.record.idleMs - Date.now();
      if (idleMs <= 0 && !this.record.command) this.closing = 'it was idle for too long';
      else await condition(() => this.closing !== null || this.isLong(), Math.max(idleMs, this.record.idleMs / 10));
      if (this.isLong() && this.closing === null) await this.continueAsNew();
    }
    await this.close(this.closing);
    await condition(allHandlersFinished);
  }

  async close(reason: string): Promise<void> {
    this.closing ??= reason;
    const { ref } = this.record;
    try {
      await repeatable(ref.host).closeSession.executeWithOptions({ summary: reason }, [{ ref, reason }]);
      await condition(() => this.record.command === null, '10s');
    } catch (err) {
      // The host is gone and its shells with it, or it closes them when it is back and finds no workflow.
      if (fromFailure(hostFailure(err, ref.host))?.code !== 'host_offline') throw err;
    }
    this.phase = 'closed';
  }

  private isLong(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    const long = historyLength > CONTINUE_AT_EVENTS || continueAsNewSuggested;
    return long && (this.waiters === 0 || historyLength > CONTINUE_AT_ANY_COST_EVENTS);
  }

  private async continueAsNew(): Promise<never> {
    this.phase = 'draining';
    await condition(allHandlersFinished);
    return continueAsNew<typeof execSession>(undefined, this.record);
  }

  private checkExec(request: ExecRequest | undefined): ExecRequest {
    const exec = checked(execSchema, 'The command', request);
    const { command, ref, view } = this.record;
    if (command && command.id !== (exec.id ?? currentUpdateInfo()?.id)) {
      refuse('busy', { session: ref.session, from: view?.from ?? 0 });
    }
    return exec;
  }

  private checkInput(request: InputRequest | undefined): InputRequest {
    const input = checked(inputSchema, 'The input', request);
    const known = input.id !== undefined && this.record.inputIds.includes(input.id);
    if (!this.record.command && !known) refuse('no_running_process', { session: this.record.ref.session });
    return input;
  }

  private async exec(request: ExecRequest | undefined): Promise<CommandView> {
    const { id = this.nextId(), runtime = 'terminal', code, reader, ...rest } = this.checkExec(request);
    this.usedAt = Date.now();
    if (this.record.command?.id !== id) {
      this.record.command = { id, runtime, code, startedAt: Date.now(), yielded: null };
      this.track(this.record.command, false, rest.yield);
    }
    const command = this.record.command;
    const ended = this.ends.get(id);
    const view = await this.waiting(() => Promise.race([ended, condition(() => command.yielded !== null)]));
    const answer = view ?? command.yielded;
    if (!answer) return refuse('session_lost', { session: this.record.ref.session, reason: 'no view of it came' });
    this.show(answer, reader);
    return answer;
  }

  /** The ends of running commands: rejected when one could not run at all. */
  private readonly ends = new Map<string, Promise<CommandView>>();

  private track(command: RunningCommand, attached: boolean, yielding: ExecRequest['yield'] = {}): void {
    const { ref, cwd } = this.record;
    const { id: commandId, runtime, code } = command;
    const input = {
      ref,
      workflowId: workflowInfo().workflowId,
      cwd,
      commandId,
      runtime,
      code,
      yield: { ...this.record.yield, ...yielding },
    };
    // Not a part of any handler: it goes on after the yield, and only `close` ends it.
    const end = CancellationScope.nonCancellable(() => runCommand(input, attached, summaryOf(command))).finally(() => {
      if (this.record.command === command) this.record.command = null;
      this.ends.delete(commandId);
    });
    this.ends.set(commandId, end);
    end.then(
      (view) => this.show(view),
      () => undefined,
    );
  }

  private async input(request: InputRequest | undefined, answer = true): Promise<CommandView> {
    const { id = this.nextId(), keyboard, keys = [], reader, ...rest } = this.checkInput(request);
    this.usedAt = Date.now();
    if (!rememberInput(this.record, id)) return this.output({ ...(reader && { reader }) });
    const text = keyboard ?? (keys.length > 0 ? null : '');
    const from = reader ? (this.record.readers[reader] ?? null) : null;
    const wait = answer ? { ...this.record.yield, ...rest.yield } : null;
    const { ref } = this.record;
    try {
      const view = await this.waiting(() =>
        repeatable(ref.host).sendInput.executeWithOptions({ summary: summaryOfInput(text, keys) }, [
          { ref, inputId: id, text, keys, from, yield: wait },
        ]),
      );
      return await this.settle(view, reader);
    } catch (err) {
      forgetInput(this.record, id);
      throw hostFailure(err, ref.host);
    }
  }

  private async output(request: OutputRequest | undefined): Promise<CommandView> {
    const { from, maxBytes, wait, waitMs, reader } = checked(outputSchema, 'The output request', request);
    this.usedAt = Date.now();
    const { ref, readers } = this.record;
    const start = from ?? (reader ? readers[reader] : undefined) ?? null;
    try {
      const view = await this.waiting(() =>
        repeatable(ref.host).readOutput.executeWithOptions({ summary: wait ? `wait for ${wait}` : 'look' }, [
          { ref, from: start, maxBytes: maxBytes ?? null, wait: wait ?? null, waitMs: waitMs ?? DEFAULT_WAIT_MS },
        ]),
      );
      return await this.settle(view, reader);
    } catch (err) {
      throw hostFailure(err, ref.host);
    }
  }

  private async reset(request: ResetRequest | undefined): Promise<CommandView> {
    const { id = this.nextId(), reason = null } = checked(resetSchema, 'The reset request', request);
    this.usedAt = Date.now();
    const { ref } = this.record;
    try {
      const view = await repeatable(ref.host).resetSession.executeWithOptions({ summary: reason ?? 'reset' }, [
        { ref, resetId: id, reason },
      ]);
      return await this.settle(view, undefined);
    } catch (err) {
      throw hostFailure(err, ref.host);
    }
  }

  /** A view that tells of an end goes out only when the end is recorded here: the next command is then taken. */
  private async settle(view: CommandView, reader: string | undefined): Promise<CommandView> {
    const { command } = this.record;
    const isOver = view.state === 'exited' || view.state === 'lost';
    // Interleaves with runCommand's completion, which the host has sent already or is about to send.
    if (isOver && command?.id === view.commandId) await condition(() => this.record.command !== command, '10s');
    this.show(view, reader);
    return view;
  }

  private show(view: CommandView, reader?: string): void {
    showView(this.record, view, reader);
    setCurrentDetails(describe(view));
  }

  private async waiting<T>(work: () => Promise<T>): Promise<T> {
    this.waiters += 1;
    try {
      return await work();
    } finally {
      this.waiters -= 1;
    }
  }

  /** A signal has nobody to tell: what is refused is recorded. */
  private async signalled(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (err) {
      if (isCancellation(err)) throw err;
      recordRefusal(this.record, err instanceof Error ? err.message : String(err));
    }
  }

  private nextId(): string {
    return currentUpdateInfo()?.id ?? `s${++this.record.sequence}`;
  }
}

const firstLine = (text: string): string => text.trim().split('\n')[0]?.slice(0, 80) ?? '';
const summaryOf = ({ runtime, code }: RunningCommand): string => `${runtime}: ${firstLine(code)}`;
/** What was typed may be a password: a summary shows only how much. */
const summaryOfInput = (text: string | null, keys: readonly string[]): string =>
  [text === null ? null : `type ${text.length} characters`, ...keys].filter((part) => part !== null).join(', ');

function describe(view: CommandView): string {
  const end = view.exitCode === null ? '' : `, exit code ${view.exitCode}`;
  const waiting = view.waiting ? (view.waiting.echo ? ', waits for input' : ', waits for a password') : '';
  const tail = view.output.slice(-2_000);
  return `**${view.state}**${end}${waiting}, epoch ${view.epoch}, bytes ${view.from} to ${view.to}\n\n\`\`\`\n${tail}\n\`\`\``;
}
