// What is known of a session whose holder is dead, or was never there: its files tell.
import { existsSync, readFileSync } from 'node:fs';
import type { Containment, KilledBy } from '../contracts/session';
import { CommandRecords, writtenTo } from './command-records';
import { logEnd } from './log-reader';
import { segmentsOf } from './log-segments';
import type { CommandRecord, Snapshot } from './protocol';
import type { SessionPaths } from './session-paths';
import { asStorageFailure } from './storage-failure';

const HOST_LOST: KilledBy = { by: 'host_lost', reason: 'the process that held the terminal died' };

/** A command without an end is lost. Throws `storage_failed` and `resources_exhausted` where the files do not tell. */
export function deadSnapshot(paths: SessionPaths, containment: Containment): Snapshot {
  try {
    const latest = new CommandRecords(paths.commands).latest();
    const { log } = paths;
    const end = latest ? knownEnd(paths, latest) : logEnd(log);
    return {
      command: latest ? settled(paths, latest) : null,
      epoch: Number(existsSync(paths.epoch) ? readFileSync(paths.epoch, 'utf8') : 0) + 1,
      end,
      waiting: null,
      ...containment,
      ...lossOf(log, end),
      // How much it had is not always on record.
      ...(latest && segmentsOf(log).length === 0 && { degraded: `the log ${log} was deleted or moved away` }),
    };
  } catch (err) {
    throw asStorageFailure(err);
  }
}

/** The command's end, recorded: lost, where it had none. */
export function settled(paths: SessionPaths, record: CommandRecord, killedBy = HOST_LOST): CommandRecord {
  if (record.endedAt !== null) return record;
  const to = knownEnd(paths, record);
  const lost = { ...record, to, endedAt: Date.now(), lost: true, killedBy };
  // The same is found again where the disk is full.
  new CommandRecords(paths.commands).settle(lost);
  return lost;
}

const knownEnd = ({ log }: SessionPaths, record: CommandRecord): number =>
  Math.max(logEnd(log), writtenTo(record));

/** What a log is shorter by than it was is lost with the holder that would have known. */
function lossOf(log: string, end: number): Pick<Snapshot, 'lost'> {
  const from = logEnd(log);
  return from < end ? { lost: { from, to: end } } : {};
}
