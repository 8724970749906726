// The activities of one host: guarded calls of its sessions. They run on `host.<name>` alone.
import { CompleteAsyncError, Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { TemporalFailure } from '@temporalio/common';
import { toFailure } from '../../contracts/errors/failure';
import { HoldfastError, asHoldfastError } from '../../contracts/errors/holdfast-error';
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
  WaitForSessionsInput,
} from '../../contracts/sessions/host';
import type { AuditLog } from '../../exec/host/audit-log';
import type { Effect, HostAccess } from '../../exec/host/host-access';
import { asStorageFailure } from '../../system/storage-failure';
import { refuseLate } from './late-delivery';
import { asFarAsKnown, HostCalls, type HostCallsOptions } from './host-calls';

export interface HostDependencies extends HostCallsOptions {
  host: string;
  access: HostAccess;
  audit: AuditLog;
  client: Client;
}

const HEARTBEAT_MS = 3_000;

/** `commandId` is set only for commands. */
interface Input {
  ref: SessionRef;
  commandId?: string;
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

/** Another attempt follows, or the answer comes later. */
const isForTemporal = (err: unknown): boolean =>
  err instanceof TemporalFailure || err instanceof CompleteAsyncError;

/**
 * Refuses sessions of other hosts and anything that the host's access does not allow, and audits both; sends heartbeats
 * while one waits, and gives failures their code.
 */
class Guard {
  constructor(private readonly of: HostDependencies) {}

  around<I extends Input, O>(
    what: keyof HostActivities,
    run: (input: I) => Promise<O>,
  ): (input: I) => Promise<O> {
    return async (input) => {
      const heartbeat = setInterval(() => Context.current().heartbeat(), HEARTBEAT_MS);
      try {
        const { info, cancellationSignal } = Context.current();
        // First: a worker that has lost the host does not know which sessions exist.
        await this.of.ownership.confirm();
        this.check(what, input);
        if (EFFECTS[what][1] !== 'looks') await refuseLate(this.of.client, info, cancellationSignal);
        const { agent, session } = input.ref;
        return await run({ ...input, ref: { agent, host: this.of.host, session } });
      } catch (err) {
        throw failureOf(err, what);
      } finally {
        clearInterval(heartbeat);
      }
    };
  }

  private check(what: keyof HostActivities, input: Input): void {
    const { host, ownership, access, audit } = this.of;
    const { ref } = input;
    try {
      if (ref.host !== host) throw new HoldfastError('foreign_session', { got: ref.host, host });
      if (ref.folderId !== undefined && ref.folderId !== ownership.folderId)
        throw new HoldfastError('session_elsewhere', { session: ref.session, host });
      const [named, effect] = EFFECTS[what];
      access.check(named, this.effectNow(input, effect));
    } catch (err) {
      if (err instanceof HoldfastError) audit.write({ what, outcome: 'refused', why: err.code, ...ref });
      throw err;
    }
  }

  /** A running command is followed to its end: a refusal would say that it was not run. */
  private effectNow({ ref, commandId }: Input, effect: Effect): Effect {
    const begun = commandId === undefined ? undefined : this.of.sessions.commandRecord(ref, commandId);
    if (!begun) return effect;
    return begun.endedAt === null ? 'ends' : 'looks';
  }
}

/** System failures are reported; Temporal would retry for days otherwise. */
function failureOf(err: unknown, what: keyof HostActivities): unknown {
  const known = asStorageFailure(err);
  if (!(known instanceof HoldfastError)) {
    if (what !== 'runCommand' || isForTemporal(known)) return known;
    // Tried once: its failure is the answer to its caller.
    return toFailure(asHoldfastError(known));
  }
  const [named, effect] = EFFECTS[what];
  return toFailure(effect === 'mutates' ? asFarAsKnown(known, named) : known);
}

export function createHostActivities(dependencies: HostDependencies): HostActivities {
  const calls = new HostCalls(dependencies);
  const guard = new Guard(dependencies);
  return {
    openSession: guard.around('openSession', (input: OpenSessionInput) => calls.openSession(input)),
    runCommand: guard.around('runCommand', (input: RunCommandInput) => calls.runCommand(input)),
    sendInput: guard.around('sendInput', (input: SendInputInput) => calls.sendInput(input)),
    sendInputs: guard.around('sendInputs', (input: SendInputsInput) => calls.sendInputs(input)),
    readOutput: guard.around('readOutput', (input: ReadOutputInput) => calls.readOutput(input)),
    waitForSessions: guard.around('waitForSessions', (input: WaitForSessionsInput) =>
      calls.waitForSessions(input),
    ),
    resetSession: guard.around('resetSession', (input: ResetSessionInput) => calls.resetSession(input)),
    closeSession: guard.around('closeSession', (input: CloseSessionInput) => calls.closeSession(input)),
  };
}
