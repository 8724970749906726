// Composes what callers see of a command out of the holder's facts and the log.
import { HoldfastError } from '../contracts/errors';
import type { CommandView, YieldReason } from '../contracts/session';
import type { SessionRef } from '../contracts/ids';
import type { ObserveReason, Snapshot } from './protocol';
import { boundedView, page } from './view';

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
  /** One gapless page of at most so many bytes, instead of head and tail. */
  maxBytes?: number | null;
  reason?: ObserveReason;
}

/** Throws `offset_out_of_range` when `from` lies behind the log's end, `storage_failed` when the log cannot be read. */
export async function commandView(request: ViewRequest): Promise<CommandView> {
  const { ref, logPath, snapshot, maxBytes, reason } = request;
  const { command, waiting, lost } = snapshot;
  const from = request.from ?? command?.from ?? 0;
  if (from > snapshot.end)
    throw new HoldfastError('offset_out_of_range', { got: from, allowed: snapshot.end });
  // What background jobs print after the end belongs to the log, not to a command that is over, unless asked for.
  const behind = request.from === null ? (command?.to ?? snapshot.end) : snapshot.end;
  // The end of a command that was reset while the disk was full lies behind what is written yet.
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
    degraded: snapshot.degraded ?? null,
    survivors: snapshot.survivors ?? [],
    ...(command?.missing && { missing: command.missing }),
    durationMs: command ? (command.endedAt ?? Date.now()) - command.startedAt : 0,
  };
}
