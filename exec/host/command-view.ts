// Builds the caller's view of a command from the holder's facts and the log.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { CommandView, YieldReason } from '../../contracts/sessions/session';
import type { SessionRef } from '../../contracts/ids';
import type { ObserveReason, Snapshot } from '../protocol';
import { boundedView, page } from '../output/view';

const YIELDS: readonly string[] = [
  'first_output',
  'between_output',
  'max',
  'waiting_input',
] satisfies YieldReason[];

export interface ViewRequest {
  ref: SessionRef;
  logPath: string;
  snapshot: Snapshot;
  /** Null: from where the command began. */
  from: number | null;
  /** Returns one gapless page of at most this many bytes, instead of head and tail. */
  maxBytes?: number | null;
  reason?: ObserveReason;
}

/** Throws `offset_out_of_range` if `from` is beyond the end of the log, `storage_failed` if the log cannot be read. */
export async function commandView(request: ViewRequest): Promise<CommandView> {
  const { ref, logPath, snapshot, maxBytes, reason } = request;
  const { command, waiting, lost } = snapshot;
  const from = request.from ?? command?.from ?? 0;
  if (from > snapshot.end)
    throw new HoldfastError('offset_out_of_range', { got: from, allowed: snapshot.end });
  // Output of background jobs after the end belongs to the log, not to the finished command, unless requested.
  const behind = request.from === null ? (command?.to ?? snapshot.end) : snapshot.end;
  // A command that was reset while the disk was full ends beyond what is written so far.
  const to = Math.min(behind, snapshot.end);
  const shown =
    typeof maxBytes === 'number'
      ? await page(logPath, from, Math.min(from + maxBytes, snapshot.end), lost)
      : await boundedView(logPath, from, Math.max(from, to), lost);
  const ended = command === null || command.endedAt !== null;
  return {
    session: ref.session,
    commandId: command?.id ?? null,
    state: command?.lost ? 'lost' : ended ? 'exited' : waiting ? 'waiting_input' : 'running',
    exitCode: command?.exitCode ?? null,
    signal: command?.signal ?? null,
    killedBy: command?.killedBy ?? null,
    ...shown,
    epoch:
      ended && !command?.lost
        ? Math.max(command?.epoch ?? 1, snapshot.epoch)
        : (command?.epoch ?? snapshot.epoch),
    freshShell: command?.freshShell ?? false,
    yielded: !ended && reason && YIELDS.includes(reason) ? (reason as YieldReason) : null,
    waiting: ended ? null : waiting,
    treeKill: snapshot.treeKill,
    ...(snapshot.sandbox && { sandbox: snapshot.sandbox }),
    degraded: snapshot.degraded,
    survivors: snapshot.survivors,
    ...(command?.missing && { missing: command.missing }),
    durationMs: command ? (command.endedAt ?? Date.now()) - command.startedAt : 0,
  };
}
