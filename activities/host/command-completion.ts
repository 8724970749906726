// Observes each command at its holder until it has ended. An activity that has left by then is completed from here,
// outside the worker's slots: a journal on the host's disk holds what is needed to continue after a kill.
import { setTimeout as delay } from 'node:timers/promises';
import type { Info } from '@temporalio/activity';
import {
  ActivityCancelledError,
  ActivityNotFoundError,
  WorkflowNotFoundError,
  type AsyncCompletionOperationOptions,
  type Client,
} from '@temporalio/client';
import { HoldfastError, asHoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { toFailure } from '../../contracts/errors/failure';
import type { CommandTrouble, RunCommandInput, Yielded } from '../../contracts/sessions/host';
import { SESSION_MESSAGES } from '../../contracts/messages/to-sessions';
import { isPassing, ofLookBehind } from '../../contracts/errors/passing';
import type { SessionRef } from '../../contracts/ids';
import {
  commandSpan,
  readTraceparent,
  writeTraceparent,
  type ReportSpan,
  type TraceContext,
} from '../../contracts/telemetry/trace';
import type { CommandView } from '../../contracts/sessions/session';
import { commandView } from '../../exec/host/command-view';
import type { ObserveReason, Snapshot } from '../../exec/protocol';
import type { Terminals } from '../../exec/terminals';
import { asStorageFailure } from '../../system/storage-failure';
import { crashPoint } from '../../system/faults/crash-point';
import { CommandJournal, keyOf, type ActivityRef, type JournalEntry } from './command-journal';
import { NOT_KNOWN, reportWaitsUntilExit, waitIn } from './later-waits';
import { QuickEnd } from './quick-end';

const HEARTBEAT_MS = 4_000;
const KEEP_AGAIN_MS = 1_000;
const LOOK_AGAIN_MS = 250;
/** The part of the view that a session gets with a later wait: enough for a screen. */
const LATER_BYTES = 4_096;

export interface CompletionOptions {
  /** Folder of the journal for the next worker. */
  journal: string;
  /** Id of the data folder, for the session's workflow. */
  folderId: string;
  /** Null: no traces are wanted. */
  reportSpan?: ReportSpan | null | undefined;
  log: (message: string, facts: object) => void;
}

interface Watched {
  abort: AbortController;
  entry: JournalEntry;
  /** Absent if another worker began it. */
  quick?: QuickEnd;
}

export class CommandCompletion {
  private readonly watched = new Map<string, Watched>();
  private readonly journal: CommandJournal;

  constructor(
    private readonly client: Client,
    private readonly sessions: Terminals,
    private readonly options: CompletionOptions,
  ) {
    this.journal = new CommandJournal(options.journal);
  }

  /** Commands that have not ended. */
  get running(): number {
    return this.watched.size;
  }

  /** Takes over all commands that an earlier worker of this host left running; returns their number. */
  adopt(): number {
    const entries = this.journal.entries();
    // One that was killed may have reported the yield without recording that.
    for (const entry of entries) this.watch({ ...entry, isAgain: true });
    return entries.length;
  }

  /** Whether this activity is completed from here: its worker's end is not its own. */
  completes({ runId, activityId }: ActivityRef): boolean {
    return [...this.watched.values()].some(
      ({ entry: { activity } }) => activity?.runId === runId && activity.activityId === activityId,
    );
  }

  /**
   * Follows one command to its end. A newer token for the same command replaces the older one. Resolves within moments:
   * with the view of the end, for the activity to answer with, or with null if it is completed from here later.
   * @param isAgain it had begun before this token: it was handed over again
   */
  async start(
    {
      taskToken,
      activityId,
      workflowExecution,
    }: Pick<Info, 'taskToken' | 'activityId' | 'workflowExecution'>,
    { ref, workflowId, cwd, commandId, runtime, yield: settings }: RunCommandInput,
    { trace, isAgain = false }: { trace?: TraceContext | undefined; isAgain?: boolean } = {},
  ): Promise<CommandView | null> {
    // Without the code: the holder has it, and the journal must not contain secrets.
    const input = { ref, workflowId, cwd, commandId, runtime, yield: settings };
    const traceparent = trace && writeTraceparent(trace);
    const entry = {
      ...{ token: Buffer.from(taskToken).toString('base64'), input, yielded: false, isAgain },
      ...(workflowExecution && { activity: { runId: workflowExecution.runId, activityId } }),
      ...(traceparent !== undefined && { traceparent }),
    };
    const quick = new QuickEnd();
    this.watch(entry, quick);
    const view = await quick.answer;
    if (view || this.watched.get(keyOf(input))?.entry !== entry) return view;
    this.keep(entry);
    crashPoint('command-journalled');
    return null;
  }

  /** Stops watching; the commands and their journal stay for the next worker. */
  detach(): void {
    for (const { abort } of this.watched.values()) abort.abort();
    this.watched.clear();
  }

  private watch(entry: JournalEntry, quick?: QuickEnd): void {
    const key = keyOf(entry.input);
    this.watched.get(key)?.abort.abort();
    const abort = new AbortController();
    const watched = { abort, entry, ...(quick && { quick }) };
    this.watched.set(key, watched);
    // At once for one that was taken over: its last heartbeat was that of the worker before.
    if (entry.isAgain) void this.heartbeat(entry, abort);
    const heartbeat = setInterval(() => void this.heartbeat(entry, abort), HEARTBEAT_MS);
    abort.signal.addEventListener('abort', () => clearInterval(heartbeat));
    this.complete(watched).catch((err: unknown) => {
      if (!abort.signal.aborted)
        this.options.log('runCommand could not be completed', { error: reasonOf(err) });
    });
  }

  /**
   * Writes the entry for the next worker. A full disk must not decide the fate of a command that was handed over: the
   * write is retried, and if the worker dies meanwhile, the heartbeat timeout reveals it.
   */
  private keep(entry: JournalEntry): void {
    const key = keyOf(entry.input);
    try {
      this.journal.keep(entry);
    } catch (err) {
      this.options.log('the journal cannot be written, trying again', { error: reasonOf(err) });
      const isWatched = this.watched.get(key);
      setTimeout(() => {
        if (isWatched && this.watched.get(key) === isWatched) this.keep(entry);
      }, KEEP_AGAIN_MS).unref();
    }
  }

  private async complete({ entry, abort, quick }: Watched): Promise<void> {
    const { input } = entry;
    const token = Buffer.from(entry.token, 'base64');
    try {
      const result = await this.patiently(entry, abort.signal, async () => {
        const snapshot = await this.observe(entry, abort.signal);
        return this.view(input, snapshot);
      });
      crashPoint('end-due');
      if (quick?.take(result)) this.forget(entry, abort);
      else
        await this.finish(entry, abort, () =>
          this.client.activity.complete(token, result, this.owner(input)),
        );
      this.reportSpan(entry);
    } catch (err) {
      if (abort.signal.aborted) return;
      const failure = toFailure(asHoldfastError(err));
      await this.finish(entry, abort, () => this.client.activity.fail(token, failure, this.owner(input)));
    }
  }

  /**
   * An unresponsive holder or an unreadable log does not end the command. Its callers are notified, and the look is
   * repeated until it succeeds.
   */
  private async patiently<T>(entry: JournalEntry, signal: AbortSignal, look: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        if (entry.troubled) {
          await this.sessions.status(entry.input.ref);
          await this.reportTrouble(entry, null, signal);
        }
        return await look();
      } catch (caught) {
        const err = asStorageFailure(caught);
        if (signal.aborted || !isPassing(err)) throw caught;
        if (!entry.troubled) {
          this.options.log('a command cannot be observed for now', { error: err.message });
          const { code, facts } = ofLookBehind(err, 'its command had already begun');
          await this.reportTrouble(entry, { code, facts }, signal);
        }
        await delay(LOOK_AGAIN_MS, undefined, { signal });
      }
    }
  }

  private async reportTrouble(
    entry: JournalEntry,
    trouble: CommandTrouble | null,
    signal: AbortSignal,
  ): Promise<void> {
    const { workflowId, commandId } = entry.input;
    this.leave(entry);
    const session = this.client.workflow.getHandle(workflowId);
    const report: Yielded = { commandId, trouble };
    await this.untilTaken(() => session.signal(SESSION_MESSAGES.yielded.name, report), signal);
    entry.troubled = trouble !== null;
    this.keep(entry);
  }

  private async observe(entry: JournalEntry, signal: AbortSignal): Promise<Snapshot> {
    const { ref, commandId, workflowId } = entry.input;
    // What runs there now may be another command: nothing of it is waited for.
    if (entry.isAgain && this.sessions.commandRecord(ref, commandId)?.endedAt)
      return this.recordOf(entry, await this.sessions.status(ref));
    if (entry.yielded) return this.recordOf(entry, await this.untilExit(entry, signal));
    const until = { kind: 'yield', settings: entry.input.yield } as const;
    const { reason, snapshot } = await this.sessions.observe(ref, until, signal);
    if (reason === 'exit' || snapshot.command?.id !== commandId) return this.recordOf(entry, snapshot);
    const view = await this.view(entry.input, snapshot, reason);
    const session = this.client.workflow.getHandle(workflowId);
    this.leave(entry);
    crashPoint('yield-due');
    const report: Yielded = { commandId, view, ...(entry.isAgain && { later: true }) };
    await this.untilTaken(() => session.signal(SESSION_MESSAGES.yielded.name, report), signal);
    crashPoint('yield-told');
    // Recorded after the signal: a repeated signal is ignored, but a missing one would leave the caller waiting.
    entry.yielded = true;
    entry.wait = waitIn(view);
    this.keep(entry);
    return this.recordOf(entry, await this.untilExit(entry, signal));
  }

  private untilExit(entry: JournalEntry, signal: AbortSignal): Promise<Snapshot> {
    const { ref, commandId, workflowId } = entry.input;
    const session = this.client.workflow.getHandle(workflowId);
    return reportWaitsUntilExit({
      commandId,
      known: () => entry.wait ?? null,
      observe: (until) => this.sessions.observe(ref, until, signal),
      report: async ({ snapshot, reason }) => {
        const waits = snapshot.waiting !== null;
        const from = Math.max(snapshot.command?.from ?? 0, snapshot.end - LATER_BYTES);
        const view = await this.view(entry.input, snapshot, waits ? 'waiting_input' : reason, from);
        const report: Yielded = { commandId, view, later: true };
        // If this worker is killed now, the next one does not know whether this was sent, and sends it again.
        entry.wait = NOT_KNOWN;
        this.keep(entry);
        await this.untilTaken(() => session.signal(SESSION_MESSAGES.yielded.name, report), signal);
        crashPoint('wait-told');
        entry.wait = waitIn(view);
        this.keep(entry);
      },
    });
  }

  /**
   * A later command may have begun in the same session since: the record is that of ours. Throws `unknown_outcome` if
   * it is gone, and `storage_failed` while the end is not in it: no caller may learn that a command has ended while its
   * record says that it runs.
   */
  private recordOf({ input: { ref, commandId } }: JournalEntry, snapshot: Snapshot): Snapshot {
    if (snapshot.command?.id === commandId) return snapshot;
    const command = this.sessions.commandRecord(ref, commandId);
    if (!command)
      throw new HoldfastError('unknown_outcome', { what: 'the command', reason: 'its record is gone.' });
    if (command.endedAt === null)
      throw new HoldfastError('storage_failed', {
        reason: snapshot.degraded ?? 'the end of the command is not recorded yet',
      });
    return { ...snapshot, command };
  }

  /** The session's workflow gets this view by another way. */
  noteView(ref: SessionRef, view: CommandView): void {
    if (view.commandId === null) return;
    const entry = this.watched.get(keyOf({ ref, commandId: view.commandId }))?.entry;
    const wait = waitIn(view);
    if (!entry?.yielded || entry.wait === wait) return;
    entry.wait = wait;
    this.keep(entry);
  }

  private async view(
    { ref }: JournalEntry['input'],
    snapshot: Snapshot,
    reason?: ObserveReason,
    from: number | null = null,
  ): ReturnType<typeof commandView> {
    const logPath = this.sessions.logPath(ref);
    const view = await commandView({ ref, logPath, snapshot, from, ...(reason && { reason }) });
    return { ...view, folderId: this.options.folderId };
  }

  /** Where the calls of a running command's scripts belong. */
  traceOf(ref: SessionRef, commandId: string): TraceContext | undefined {
    const parent = readTraceparent(this.watched.get(keyOf({ ref, commandId }))?.entry.traceparent);
    return parent && commandSpan(parent, commandId);
  }

  /** The life of the command in its holder, whichever process has observed it. */
  private reportSpan({ input: { ref, commandId, runtime }, traceparent }: JournalEntry): void {
    const parent = readTraceparent(traceparent);
    const record = this.sessions.commandRecord(ref, commandId);
    if (!parent || !record) return;
    const { startedAt, endedAt, exitCode, signal, lost, epoch } = record;
    this.options.reportSpan?.({
      ...{ ...commandSpan(parent, commandId), parentSpanId: parent.spanId },
      ...{ name: `command ${runtime}`, kind: 'internal', startMs: startedAt, endMs: endedAt ?? Date.now() },
      attributes: {
        ...{ 'holdfast.agent': ref.agent, 'holdfast.host': ref.host, 'holdfast.session': ref.session },
        ...{ 'holdfast.command': commandId, 'holdfast.epoch': epoch },
        ...(exitCode !== null && { 'process.exit.code': exitCode }),
        ...(signal !== null && { 'holdfast.signal': signal }),
      },
      error: lost ? 'lost' : undefined,
    });
  }

  private async heartbeat(entry: JournalEntry, abort: AbortController): Promise<void> {
    try {
      const token = Buffer.from(entry.token, 'base64');
      await this.client.activity.heartbeat(token, undefined, this.owner(entry.input));
    } catch (err) {
      if (err instanceof ActivityNotFoundError) this.forget(entry, abort);
      if (err instanceof ActivityCancelledError) {
        const { ref, commandId } = entry.input;
        const reset = {
          id: `cancel-${commandId}`,
          reason: 'the activity was cancelled',
          by: 'cancelled',
        } as const;
        await this.sessions
          .reset(ref, reset)
          .catch((failure: unknown) =>
            this.options.log('a cancelled command could not be ended', { error: reasonOf(failure) }),
          );
      }
    }
  }

  /** A token does not identify the activity's workflow, for which the payload is encrypted. */
  private owner({ workflowId }: JournalEntry['input']): AsyncCompletionOperationOptions {
    const { namespace } = this.client.options;
    return { serializationContext: { type: 'activity', namespace, workflowId, isLocal: false } };
  }

  private async finish(entry: JournalEntry, abort: AbortController, say: () => Promise<void>): Promise<void> {
    await this.untilTaken(say, abort.signal);
    crashPoint('end-told');
    if (!abort.signal.aborted) this.forget(entry, abort);
  }

  /** An unreachable server must not end a running command: the result is sent when the server is back. */
  private async untilTaken(say: () => Promise<void>, signal: AbortSignal): Promise<void> {
    for (let pauseMs = 100; !signal.aborted; pauseMs = Math.min(pauseMs * 2, 5_000)) {
      try {
        return await say();
      } catch (err) {
        // The server no longer knows the activity: this token's attempt is over, or its workflow is.
        if (err instanceof ActivityNotFoundError || err instanceof WorkflowNotFoundError) return;
        this.options.log('the server accepts no answer, trying again', { error: reasonOf(err), pauseMs });
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
    // Nothing was sent: the next worker must not assume that it was.
    signal.throwIfAborted();
  }

  private leave({ input }: JournalEntry): void {
    this.watched.get(keyOf(input))?.quick?.leave();
  }

  private forget(entry: JournalEntry, abort: AbortController): void {
    abort.abort();
    const key = keyOf(entry.input);
    if (this.watched.get(key)?.abort !== abort) return;
    this.watched.delete(key);
    this.journal.forget(entry);
  }
}
