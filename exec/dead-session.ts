// What is known of a session whose holder is dead, or was never there: its files tell.
import { existsSync, readFileSync } from 'node:fs';
import type { Containment, KilledBy } from '../contracts/session';
import { CommandRecords } from './command-records';
import { logEnd } from './log-reader';
import type { CommandRecord, Snapshot } from './protocol';
import type { SessionPaths } from './session-paths';
import { asStorageFailure } from './storage-failure';

const HOST_LOST: KilledBy = { by: 'host_lost', reason: 'the process that held the terminal died' };

/** A command without an end is lost. Throws `storage_failed` and `resources_exhausted` where the files do not tell. */
export function deadSnapshot(paths: SessionPaths, containment: Containment): Snapshot {
  try {
    const latest = new CommandRecords(paths.commands).latest();
    return {
      command: latest ? settled(paths, latest) : null,
      epoch: Number(existsSync(paths.epoch) ? readFileSync(paths.epoch, 'utf8') : 0) + 1,
      end: logEnd(paths.log),
      waiting: null,
      ...containment,
    };
  } catch (err) {
    throw asStorageFailure(err);
  }
}

/** The command's end, recorded: lost, where it had none. */
export function settled(paths: SessionPaths, record: CommandRecord, killedBy = HOST_LOST): CommandRecord {
  if (record.endedAt !== null) return record;
  const to = logEnd(paths.log);
  const lost = { ...record, to, endedAt: Date.now(), lost: true, killedBy };
  // The same is found again where the disk is full.
  new CommandRecords(paths.commands).settle(lost);
  return lost;
}
