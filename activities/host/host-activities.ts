// The activities of one host: thin wrappers around its sessions. They run on `host.<name>` alone.
import { CompleteAsyncError, Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { TemporalFailure } from '@temporalio/common';
import { HoldfastError, asHoldfastError } from '../../contracts/errors/holdfast-error';
import { toFailure } from '../../contracts/errors/failure';
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
import type { SessionRef } from '../../contracts/ids';
import { isPassing, ofLookBehind } from '../../contracts/errors/passing';
import type { CodeImport } from '../../contracts/tools/package-names';
import type { CommandView, WaitResult } from '../../contracts/sessions/session';
import { commandView, type ViewRequest } from '../../exec/host/command-view';
import { resolvedFolder } from '../../exec/working-folder';
import type { ObserveReason, Snapshot, Verbs } from '../../exec/protocol';
import type { AuditLog } from '../../exec/host/audit-log';
import type { Effect, HostAccess } from '../../exec/host/host-access';
import type { Terminals } from '../../exec/terminals';
import { asStorageFailure } from '../../system/storage-failure';
import { traceHere } from '../../client/delivery/traced-client';
import { commandSpan, writeTraceparent } from '../../contracts/telemetry/trace';
import { importsOf } from '../../checks/javascript-imports';
import type { HeldCommand } from '../../contracts/tools/approvals';
import type { CommandCompletion } from './command-completion';
import { ClosedRuns } from './closed-runs';
import { SessionResets } from './session-resets';
import type { CommandGate } from './command-gate';
import { crashPoint } from '../../system/faults/crash-point';
import { refuseLate } from './late-delivery';
import type { ToolChannel } from '../tools/tool-channel';
import { waitForOutput, waitForSessions } from './wait-for-output';

/** Confirms that this host's task queue belongs to this data folder only. */
export interface HostOwnership {
  folderId: string;
  /** Since when, in milliseconds by the server's clock. */
  since: number;
  /** Otherwise throws an error that makes the server give the task to another worker. */
  confirm(): Promise<void>;
}

export interface HostDependencies {
  host: string;
  ownership: HostOwnership;
  sessions: Terminals;
  completion: CommandCompletion;
  channel: ToolChannel;
  access: HostAccess;
  audit: AuditLog;
  gate: CommandGate;
  client: Client;
}

const HEARTBEAT_MS = 3_000;
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

export function createHostActivities({
  host,
  ownership,
  sessions,
  completion,
  channel,
  access,
  audit,
  gate,
  client,
}: HostDependencies): HostActivities {
  const { folderId } = ownership;
  const closed = new ClosedRuns();
  const resets = new SessionResets();
  type Asked = Pick<ViewRequest, 'ref' | 'from' | 'maxBytes'>;
  const viewOf = async (input: Asked, snapshot: Snapshot, reason?: ObserveReason): Promise<CommandView> => {
    const { ref } = input;
    const shown = { ...input, logPath: sessions.logPath(ref), snapshot, ...(reason && { reason }) };
    return { ...(await commandView(shown)), folderId };
  };

  /** For the session's own workflow, which then knows whether the program waits. */
  const view: typeof viewOf = async (input, snapshot, reason) => {
    const shown = await viewOf(input, snapshot, reason);
    completion.told(input.ref, shown);
    return shown;
  };

  /** Many of them must fit into one answer: only the last lines of each. */
  const lastLines = (ref: SessionRef, snapshot: Snapshot): Promise<CommandView> => {
    const from = Math.max(snapshot.command?.from ?? 0, snapshot.end - LAST_BYTES);
    return viewOf({ ref, from }, snapshot);
  };

  const type = async (
    ref: SessionRef,
    request: Verbs['input']['request'],
  ): Promise<Verbs['input']['answer']> => {
    const typed = await sessions.input(ref, request);
    if (!typed) throw new HoldfastError('no_running_process', { session: ref.session });
    return typed;
  };

  const activities: HostActivities = {
    async runCommand(input: RunCommandInput): Promise<CommandView | HeldCommand> {
      const { ref, commandId: id, runtime, code } = input;
      // A link may lead elsewhere once it is approved.
      const cwd = input.cwd === null ? null : resolvedFolder(input.cwd);
      crashPoint('command-arrived');
      const isAgain = sessions.commandRecord(ref, id) !== undefined;
      // The session may have been closed or reset while the checks looked at it, or its holder was starting.
      const refuseReset = resets.arrived(ref, input.resets);
      const mayBegin = (): void => {
        closed.refuse(ref);
        refuseReset();
      };
      // A command that has begun is only looked up, whatever the policy says by now.
      if (!isAgain) {
        refuseInherited(input, ownership);
        if (input.over !== undefined)
          throw new HoldfastError('not_begun', { session: ref.session, reason: input.over });
        const held = await gate.held(input, () => folderOf(sessions, { ...input, cwd }));
        if (held) return held;
        if (input.reset) {
          // A missing secret refuses the command before anything is ended for it.
          await sessions.secretsOf(ref, 'command', code);
          // Given up meanwhile, it would end what came in its place.
          mayBegin();
          resets.add(input.resets, REPLACED);
          await sessions.reset(ref, { id: `${id}/reset`, reason: REPLACED, by: 'reset' });
        }
      }
      const trace = traceHere();
      const traceparent = trace && writeTraceparent(commandSpan(trace, id));
      const checkImports = importsToCheck(input, gate);
      const command = { id, runtime, code, cwd, checkImports, traceparent, mayBegin };
      await sessions.run(ref, command).catch((err: unknown) => {
        // A command that has begun continues, whatever its holder's state: it is followed to its end.
        if (!isPassing(err) || !sessions.commandRecord(ref, id)) throw err;
      });
      channel.serve(ref);
      crashPoint('command-recorded');
      const ended = await completion.start(Context.current().info, input, { trace, isAgain });
      if (ended) return ended;
      throw new CompleteAsyncError();
    },

    async openSession({ ref, cwd }: OpenSessionInput): Promise<CommandView> {
      const snapshot = await sessions.open(ref, cwd, () => closed.refuse(ref));
      channel.serve(ref);
      return view({ ref, from: null }, snapshot);
    },

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
      const typed = await type(ref, { id, text, enter, keys, prompt });
      crashPoint('input-typed');
      const start = from ?? typed.at;
      if (!settings) return view({ ref, from: start }, typed.snapshot);
      const until = { kind: 'yield', settings, sinceMs: Date.now() } as const;
      const { cancellationSignal } = Context.current();
      const { reason, snapshot } = await behind('the input had already been typed', () =>
        sessions.observe(ref, until, cancellationSignal),
      );
      return view({ ref, from: start }, snapshot, reason);
    },

    async sendInputs({ ref, inputs }: SendInputsInput): Promise<SentInputs> {
      const refused: string[] = [];
      for (const { inputId: id, ...typed } of inputs) {
        try {
          await type(ref, { id, ...typed });
        } catch (err) {
          if (!(err instanceof HoldfastError)) throw err;
          refused.push(asFarAsKnown(err, 'the input').message);
        }
      }
      const snapshot = await behind('the inputs had already been typed, unless refused', () =>
        sessions.status(ref),
      );
      return { view: await view({ ref, from: null }, snapshot), refused };
    },

    async readOutput({ ref, from, maxBytes, wait, waitMs }: ReadOutputInput): Promise<CommandView> {
      if (!wait) return view({ ref, from, maxBytes }, await sessions.status(ref));
      const request = { ref, from, wait, waitMs: leftOf(waitMs) };
      const { snapshot } = await waitForOutput(sessions, request, Context.current().cancellationSignal);
      return view({ ref, from, maxBytes }, snapshot);
    },

    async waitForSessions(input: WaitForSessionsInput): Promise<WaitResult> {
      const request = { ...input, waitMs: leftOf(input.waitMs) };
      const waited = await waitForSessions(sessions, request, Context.current().cancellationSignal);
      const settled = waited.map(({ reason }) => reason !== 'timeout');
      return {
        met: input.mode === 'any' ? settled.some(Boolean) : settled.every(Boolean),
        sessions: await Promise.all(
          waited.map(async ({ ref, reason, snapshot }) => ({ reason, view: await lastLines(ref, snapshot) })),
        ),
      };
    },

    async resetSession({ ref, resetId: id, reason, number }: ResetSessionInput): Promise<CommandView> {
      crashPoint('reset-arrived');
      resets.add(number, `the session was reset${reason === null ? '' : `: ${reason}`}`);
      const snapshot = await sessions.reset(ref, { id, reason, by: 'reset' });
      crashPoint('reset-done');
      return view({ ref, from: null }, snapshot);
    },

    async closeSession({ ref, reason }: CloseSessionInput): Promise<void> {
      crashPoint('close-arrived');
      closed.add(reason);
      await sessions.close(ref, reason);
      crashPoint('close-done');
    },
  };
  return guarded({ host, ownership, sessions, access, audit, client }, activities);
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

/** `commandId` is set only for commands. */
interface Input {
  ref: SessionRef;
  commandId?: string;
}

/** Where a command would begin; null: it is not known. */
async function folderOf(sessions: Terminals, { ref, cwd, reset }: RunCommandInput): Promise<string | null> {
  if (reset || !sessions.isOpen(ref)) return cwd ?? resolvedFolder(sessions.options.cwd);
  return (await sessions.status(ref)).folder ?? null;
}

/** What each activity is called, and its effect on a session: the host's access decides by that. */
const EFFECTS: Record<keyof HostActivities, readonly [what: string, effect: Effect]> = {
  openSession: ['a session', 'mutates'],
  runCommand: ['a command', 'mutates'],
  sendInput: ['input', 'mutates'],
  sendInputs: ['input', 'mutates'],
  readOutput: ['output', 'looks'],
  waitForSessions: ['a wait', 'looks'],
  resetSession: ['a reset', 'ends'],
  closeSession: ['an end', 'ends'],
};

/**
 * A refusal says that nothing was done, but an earlier attempt, whose worker has died, may have done it all the same:
 * its terminal may be gone since, or the host's access may have changed.
 */
function asFarAsKnown(err: HoldfastError, what: string): HoldfastError {
  if (Context.current().info.attempt === 1 || err.effect !== 'none') return err;
  const reason = `an earlier attempt may have been carried out, and this one was refused (${err.code}).`;
  return new HoldfastError('unknown_outcome', { what, reason });
}

/** Another attempt follows, or the answer comes later. */
const isForTemporal = (err: unknown): boolean =>
  err instanceof TemporalFailure || err instanceof CompleteAsyncError;

/**
 * Refuses sessions of other hosts and anything that the host's access does not allow, and audits both; sends heartbeats
 * while one waits, and gives failures their code.
 */
function guarded(
  {
    host,
    ownership,
    sessions,
    access,
    audit,
    client,
  }: Pick<HostDependencies, 'host' | 'ownership' | 'sessions' | 'access' | 'audit' | 'client'>,
  activities: HostActivities,
): HostActivities {
  /** A running command is followed to its end: a refusal would say that it was not run. */
  const effectNow = ({ ref, commandId }: Input, effect: Effect): Effect => {
    const begun = commandId === undefined ? undefined : sessions.commandRecord(ref, commandId);
    if (!begun) return effect;
    return begun.endedAt === null ? 'ends' : 'looks';
  };
  const check = (what: keyof HostActivities, input: Input): void => {
    const { ref } = input;
    try {
      if (ref.host !== host) throw new HoldfastError('foreign_session', { got: ref.host, host });
      if (ref.folderId !== undefined && ref.folderId !== ownership.folderId)
        throw new HoldfastError('session_elsewhere', { session: ref.session, host });
      const [named, effect] = EFFECTS[what];
      access.check(named, effectNow(input, effect));
    } catch (err) {
      if (err instanceof HoldfastError) audit.write({ what, outcome: 'refused', why: err.code, ...ref });
      throw err;
    }
  };
  const guard =
    <I extends Input, O>(what: keyof HostActivities, run: (input: I) => Promise<O>) =>
    async (input: I): Promise<O> => {
      const heartbeat = setInterval(() => Context.current().heartbeat(), HEARTBEAT_MS);
      try {
        const { info, cancellationSignal } = Context.current();
        // First: a worker that has lost the host does not know which sessions exist.
        await ownership.confirm();
        check(what, input);
        if (EFFECTS[what][1] !== 'looks') await refuseLate(client, info, cancellationSignal);
        const { agent, session } = input.ref;
        return await run({ ...input, ref: { agent, host, session } });
      } catch (err) {
        // System failures are reported; Temporal would retry for days otherwise.
        const known = asStorageFailure(err);
        if (!(known instanceof HoldfastError)) {
          if (what !== 'runCommand' || isForTemporal(known)) throw known;
          // Tried once: its failure is the answer to its caller.
          throw toFailure(asHoldfastError(known));
        }
        const [named, effect] = EFFECTS[what];
        throw toFailure(effect === 'mutates' ? asFarAsKnown(known, named) : known);
      } finally {
        clearInterval(heartbeat);
      }
    };
  return {
    openSession: guard('openSession', (input: OpenSessionInput) => activities.openSession(input)),
    runCommand: guard('runCommand', (input: RunCommandInput) => activities.runCommand(input)),
    sendInput: guard('sendInput', (input: SendInputInput) => activities.sendInput(input)),
    sendInputs: guard('sendInputs', (input: SendInputsInput) => activities.sendInputs(input)),
    readOutput: guard('readOutput', (input: ReadOutputInput) => activities.readOutput(input)),
    waitForSessions: guard('waitForSessions', (input: WaitForSessionsInput) =>
      activities.waitForSessions(input),
    ),
    resetSession: guard('resetSession', (input: ResetSessionInput) => activities.resetSession(input)),
    closeSession: guard('closeSession', (input: CloseSessionInput) => activities.closeSession(input)),
  };
}
