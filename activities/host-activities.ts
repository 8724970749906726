// The activities of one host: thin wrappers around its sessions. They run on `host.<name>` alone.
import { CompleteAsyncError, Context } from '@temporalio/activity';
import { HoldfastError } from '../contracts/errors';
import { toFailure } from '../contracts/failure';
import type {
  CloseSessionInput,
  HostActivities,
  ReadOutputInput,
  ResetSessionInput,
  RunCommandInput,
  SendInputInput,
} from '../contracts/host';
import type { CommandView } from '../contracts/session';
import { commandView, type ViewRequest } from '../exec/command-view';
import type { ObserveReason, Snapshot } from '../exec/protocol';
import type { SessionHost } from '../exec/session-host';
import type { CommandCompletion } from './command-completion';
import { waitForOutput } from './wait-for-output';

export interface HostDependencies {
  host: string;
  sessions: SessionHost;
  completion: CommandCompletion;
}

const HEARTBEAT_MS = 3_000;

export function createHostActivities({ host, sessions, completion }: HostDependencies): HostActivities {
  const view = (
    input: Pick<ViewRequest, 'ref' | 'from' | 'maxBytes'>,
    snapshot: Snapshot,
    reason?: ObserveReason,
  ): Promise<CommandView> =>
    commandView({ ...input, logPath: sessions.logPath(input.ref), snapshot, ...(reason && { reason }) });

  const activities: HostActivities = {
    async runCommand(input: RunCommandInput): Promise<CommandView> {
      const { ref, commandId: id, runtime, code, cwd } = input;
      await sessions.run(ref, { id, runtime, code, cwd });
      completion.start(Context.current().info.taskToken, input);
      throw new CompleteAsyncError();
    },

    async sendInput({
      ref,
      inputId: id,
      text,
      keys,
      from,
      yield: settings,
    }: SendInputInput): Promise<CommandView> {
      const typed = await sessions.input(ref, { id, text, keys });
      if (!typed) throw new HoldfastError('no_running_process', { session: ref.session });
      const start = from ?? typed.at;
      if (!settings) return view({ ref, from: start }, typed.snapshot);
      const until = { kind: 'yield', settings, sinceMs: Date.now() } as const;
      const { reason, snapshot } = await sessions.observe(ref, until, Context.current().cancellationSignal);
      return view({ ref, from: start }, snapshot, reason);
    },

    async readOutput({ ref, from, maxBytes, wait, waitMs }: ReadOutputInput): Promise<CommandView> {
      const snapshot = wait
        ? await waitForOutput(sessions, { ref, from, wait, waitMs }, Context.current().cancellationSignal)
        : await sessions.status(ref);
      return view({ ref, from, maxBytes }, snapshot);
    },

    async resetSession({ ref, resetId: id, reason }: ResetSessionInput): Promise<CommandView> {
      return view({ ref, from: null }, await sessions.reset(ref, { id, reason, by: 'reset' }));
    },

    async closeSession({ ref, reason }: CloseSessionInput): Promise<void> {
      await sessions.close(ref, reason);
    },
  };
  return guarded(host, activities);
}

/** Refuses sessions of other hosts, heartbeats while one waits, and gives failures their code. */
function guarded(host: string, activities: HostActivities): HostActivities {
  const guard =
    <I extends { ref: { host: string } }, O>(run: (input: I) => Promise<O>) =>
    async (input: I): Promise<O> => {
      const heartbeat = setInterval(() => Context.current().heartbeat(), HEARTBEAT_MS);
      try {
        if (input.ref.host !== host) {
          throw new HoldfastError('invalid_input', { what: 'The host', got: input.ref.host, allowed: host });
        }
        return await run(input);
      } catch (err) {
        throw err instanceof HoldfastError ? toFailure(err) : err;
      } finally {
        clearInterval(heartbeat);
      }
    };
  return {
    runCommand: guard((input: RunCommandInput) => activities.runCommand(input)),
    sendInput: guard((input: SendInputInput) => activities.sendInput(input)),
    readOutput: guard((input: ReadOutputInput) => activities.readOutput(input)),
    resetSession: guard((input: ResetSessionInput) => activities.resetSession(input)),
    closeSession: guard((input: CloseSessionInput) => activities.closeSession(input)),
  };
}
