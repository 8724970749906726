// What the activities of a host do with its sessions, once it is known that they may.
import { CompleteAsyncError, Context } from '@temporalio/activity';
import { traceHere } from '../../client/delivery/traced-client';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { isPassing, ofLookBehind } from '../../contracts/errors/passing';
import type { SessionRef } from '../../contracts/ids';
import type {
  CloseSessionInput,
  HostActivities,
  OpenSessionInput,
  ReadOutputInput,
  ResetSessionInput,
  RunCommandInput,
  SendInputInput,
  SendInputsInput,
  SentInputs,
  WaitForSessionsInput,
} from '../../contracts/sessions/host';
import type { CommandView, WaitResult } from '../../contracts/sessions/session';
import { commandSpan, writeTraceparent } from '../../contracts/telemetry/trace';
import type { HeldCommand } from '../../contracts/tools/approvals';
import type { CodeImport } from '../../contracts/tools/package-names';
import { importsOf } from '../../checks/javascript-imports';
import { commandView, type ViewRequest } from '../../exec/host/command-view';
import type { ObserveReason, Snapshot, Verbs } from '../../exec/protocol';
import type { Terminals } from '../../exec/terminals';
import { resolvedFolder } from '../../exec/working-folder';
import { crashPoint } from '../../system/faults/crash-point';
import type { ToolChannel } from '../tools/tool-channel';
import { ClosedRuns } from './closed-runs';
import type { CommandCompletion } from './command-completion';
import type { CommandGate } from './command-gate';
import { SessionResets } from './session-resets';
import { waitForOutput, waitForSessions } from './wait-for-output';

/** Confirms that this host's task queue belongs to this data folder only. */
export interface HostOwnership {
  folderId: string;
  /** Since when, in milliseconds by the server's clock. */
  since: number;
  /** Otherwise throws an error that makes the server give the task to another worker. */
  confirm(): Promise<void>;
}

export interface HostCallsOptions {
  ownership: HostOwnership;
  sessions: Terminals;
  completion: CommandCompletion;
  channel: ToolChannel;
  gate: CommandGate;
}

const LAST_BYTES = 1_000;
const REPLACED = 'another command takes its place';

/** The rest of a wait that an earlier attempt began; both times are the server's. */
function leftOf(waitMs: number): number {
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  return Math.max(0, waitMs - (currentAttemptScheduledTimestampMs - scheduledTimestampMs));
}

/** The imports that a script needs before it may begin. For Python, its own parser finds them where the script runs. */
function importsToCheck(
  { runtime, code, checkImports = false, ref }: RunCommandInput,
  gate: CommandGate,
): CodeImport[] | undefined {
  // They are installed before the script runs: in one that has run in part, that would repeat its effects.
  if (runtime === 'terminal' || !(checkImports || gate.mayInstall(ref))) return undefined;
  return runtime === 'nodejs' ? importsOf(code) : [];
}

type Asked = Pick<ViewRequest, 'ref' | 'from' | 'maxBytes'>;

export class HostCalls implements HostActivities {
  private readonly closed = new ClosedRuns();
  private readonly resets = new SessionResets();

  constructor(private readonly of: HostCallsOptions) {}

  async runCommand(input: RunCommandInput): Promise<CommandView | HeldCommand> {
    const { ref, commandId: id, runtime, code } = input;
    // A link may lead elsewhere once it is approved.
    const cwd = input.cwd === null ? null : resolvedFolder(input.cwd);
    crashPoint('command-arrived');
    const isAgain = this.of.sessions.commandRecord(ref, id) !== undefined;
    // The session may have been closed or reset while the checks looked at it, or its holder was starting.
    const refuseReset = this.resets.arrived(ref, input.resets);
    const mayBegin = (): void => {
      this.closed.refuse(ref);
      refuseReset();
    };
    // A command that has begun is only looked up, whatever the policy says by now.
    if (!isAgain) {
      refuseInherited(input, this.of.ownership);
      if (input.over !== undefined)
        throw new HoldfastError('not_begun', { session: ref.session, reason: input.over });
      const held = await this.of.gate.held(input, () => folderOf(this.of.sessions, { ...input, cwd }));
      if (held) return held;
      if (input.reset) {
        // A missing secret refuses the command before anything is ended for it.
        await this.of.sessions.secretsOf(ref, 'command', code);
        // Given up meanwhile, it would end what came in its place.
        mayBegin();
        this.resets.add(input.resets, REPLACED);
        await this.of.sessions.reset(ref, { id: `${id}/reset`, reason: REPLACED, by: 'reset' });
      }
    }
    const trace = traceHere();
    const traceparent = trace && writeTraceparent(commandSpan(trace, id));
    const checkImports = importsToCheck(input, this.of.gate);
    const command = { id, runtime, code, cwd, checkImports, traceparent, mayBegin };
    await this.of.sessions.run(ref, command).catch((err: unknown) => {
      // A command that has begun continues, whatever its holder's state: it is followed to its end.
      if (!isPassing(err) || !this.of.sessions.commandRecord(ref, id)) throw err;
    });
    this.of.channel.serve(ref);
    crashPoint('command-recorded');
    const ended = await this.of.completion.start(Context.current().info, input, { trace, isAgain });
    if (ended) return ended;
    throw new CompleteAsyncError();
  }

  async openSession({ ref, cwd }: OpenSessionInput): Promise<CommandView> {
    const snapshot = await this.of.sessions.open(ref, cwd, () => this.closed.refuse(ref));
    this.of.channel.serve(ref);
    return this.view({ ref, from: null }, snapshot);
  }

  async sendInput({
    ref,
    inputId: id,
    text,
    enter,
    keys,
    prompt,
    from,
    yield: settings,
  }: SendInputInput): Promise<CommandView> {
    crashPoint('input-arrived');
    const typed = await this.type(ref, { id, text, enter, keys, prompt });
    crashPoint('input-typed');
    const start = from ?? typed.at;
    if (!settings) return this.view({ ref, from: start }, typed.snapshot);
    const until = { kind: 'yield', settings, sinceMs: Date.now() } as const;
    const { cancellationSignal } = Context.current();
    const { reason, snapshot } = await behind('the input had already been typed', () =>
      this.of.sessions.observe(ref, until, cancellationSignal),
    );
    return this.view({ ref, from: start }, snapshot, reason);
  }

  async sendInputs({ ref, inputs }: SendInputsInput): Promise<SentInputs> {
    const refused: string[] = [];
    for (const { inputId: id, ...typed } of inputs) {
      try {
        await this.type(ref, { id, ...typed });
      } catch (err) {
        if (!(err instanceof HoldfastError)) throw err;
        refused.push(asFarAsKnown(err, 'the input').message);
      }
    }
    const snapshot = await behind('the inputs had already been typed, unless refused', () =>
      this.of.sessions.status(ref),
    );
    return { view: await this.view({ ref, from: null }, snapshot), refused };
  }

  async readOutput({ ref, from, maxBytes, wait, waitMs }: ReadOutputInput): Promise<CommandView> {
    if (!wait) return this.view({ ref, from, maxBytes }, await this.of.sessions.status(ref));
    const request = { ref, from, wait, waitMs: leftOf(waitMs) };
    const { snapshot } = await waitForOutput(this.of.sessions, request, Context.current().cancellationSignal);
    return this.view({ ref, from, maxBytes }, snapshot);
  }

  async waitForSessions(input: WaitForSessionsInput): Promise<WaitResult> {
    const request = { ...input, waitMs: leftOf(input.waitMs) };
    const waited = await waitForSessions(this.of.sessions, request, Context.current().cancellationSignal);
    const settled = waited.map(({ reason }) => reason !== 'timeout');
    return {
      met: input.mode === 'any' ? settled.some(Boolean) : settled.every(Boolean),
      sessions: await Promise.all(
        waited.map(async ({ ref, reason, snapshot }) => ({
          reason,
          view: await this.lastLines(ref, snapshot),
        })),
      ),
    };
  }

  async resetSession({ ref, resetId: id, reason, number }: ResetSessionInput): Promise<CommandView> {
    crashPoint('reset-arrived');
    this.resets.add(number, `the session was reset${reason === null ? '' : `: ${reason}`}`);
    const snapshot = await this.of.sessions.reset(ref, { id, reason, by: 'reset' });
    crashPoint('reset-done');
    return this.view({ ref, from: null }, snapshot);
  }

  async closeSession({ ref, reason }: CloseSessionInput): Promise<void> {
    crashPoint('close-arrived');
    this.closed.add(reason);
    await this.of.sessions.close(ref, reason);
    crashPoint('close-done');
  }

  private async viewOf(input: Asked, snapshot: Snapshot, reason?: ObserveReason): Promise<CommandView> {
    const { sessions, ownership } = this.of;
    const logPath = sessions.logPath(input.ref);
    const view = await commandView({ ...input, logPath, snapshot, ...(reason && { reason }) });
    return { ...view, folderId: ownership.folderId };
  }

  /** For the session's own workflow, which then knows whether the program waits. */
  private async view(input: Asked, snapshot: Snapshot, reason?: ObserveReason): Promise<CommandView> {
    const shown = await this.viewOf(input, snapshot, reason);
    this.of.completion.noteView(input.ref, shown);
    return shown;
  }

  /** Many of them must fit into one answer: only the last lines of each. */
  private lastLines(ref: SessionRef, snapshot: Snapshot): Promise<CommandView> {
    const from = Math.max(snapshot.command?.from ?? 0, snapshot.end - LAST_BYTES);
    return this.viewOf({ ref, from }, snapshot);
  }

  private async type(ref: SessionRef, request: Verbs['input']['request']): Promise<Verbs['input']['answer']> {
    const typed = await this.of.sessions.input(ref, request);
    if (!typed) throw new HoldfastError('no_running_process', { session: ref.session });
    return typed;
  }
}

/** A command handed to the data folder that served the host before may have run there. */
function refuseInherited({ ref, resentSince }: RunCommandInput, { since }: HostOwnership): void {
  if (resentSince === undefined || resentSince >= since) return;
  throw new HoldfastError('unknown_outcome', {
    what: 'the command',
    reason: `it was handed to the data folder that served host ${ref.host} before this one.`,
  });
}

/** A look after an action: if the look fails, the error must not say that nothing was done. */
async function behind<T>(done: string, look: () => Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (err) {
    throw err instanceof HoldfastError ? ofLookBehind(err, done) : err;
  }
}

/** Where a command would begin; null: it is not known. */
async function folderOf(sessions: Terminals, { ref, cwd, reset }: RunCommandInput): Promise<string | null> {
  if (reset || !sessions.isOpen(ref)) return cwd ?? resolvedFolder(sessions.options.cwd);
  return (await sessions.status(ref)).folder ?? null;
}

/**
 * A refusal says that nothing was done, but an earlier attempt, whose worker has died, may have done it all the same:
 * its terminal may be gone since, or the host's access may have changed.
 */
export function asFarAsKnown(err: HoldfastError, what: string): HoldfastError {
  if (Context.current().info.attempt === 1 || err.effect !== 'none') return err;
  const reason = `an earlier attempt may have been carried out, and this one was refused (${err.code}).`;
  return new HoldfastError('unknown_outcome', { what, reason });
}
