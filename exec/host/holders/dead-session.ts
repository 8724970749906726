// The state of a session whose holder is dead, or never existed, reconstructed from its files.
import type { Containment, KilledBy } from '../../../contracts/sessions/session';
import { CommandRecords, nextEpoch, writtenTo } from '../../command-records';
import { logEnd } from '../../output/log-reader';
import { segmentsOf } from '../../output/log-segments';
import type { CommandRecord, Snapshot } from '../../protocol';
import type { SessionPaths } from '../../session-paths';
import { asStorageFailure } from '../../../system/storage-failure';

/** A command without an end is lost. Throws `storage_failed` or `resources_exhausted` if the files cannot be read. */
export function deadSnapshot(paths: SessionPaths, containment: Containment): Snapshot {
  try {
    const latest = new CommandRecords(paths.commands).latest();
    const { log } = paths;
    const end = latest ? knownEnd(paths, latest) : logEnd(log);
    return {
      command: latest ? settled(paths, latest) : null,
      epoch: nextEpoch(paths, latest),
      end,
      waiting: null,
      ...containment,
      ...lossOf(log, end),
      // The size that the log had is not always recorded.
      degraded: latest && segmentsOf(log).length === 0 ? `the log ${log} was deleted or moved away` : null,
      survivors: [],
    };
  } catch (err) {
    throw asStorageFailure(err);
  }
}

/** Records the command's end; a command without one is lost. */
export function settled(paths: SessionPaths, record: CommandRecord, killedBy?: KilledBy): CommandRecord {
  if (record.endedAt !== null) return record;
  // If the disk is full, the next call reaches the same result.
  return new CommandRecords(paths.commands).settleLost(record, knownEnd(paths, record), killedBy);
}

const knownEnd = ({ log }: SessionPaths, record: CommandRecord): number =>
  Math.max(logEnd(log), writtenTo(record));

/** The missing end of a log that is shorter than it was: only the dead holder knew about it. */
function lossOf(log: string, end: number): Pick<Snapshot, 'lost'> {
  const from = logEnd(log);
  return from < end ? { lost: { from, to: end } } : {};
}
