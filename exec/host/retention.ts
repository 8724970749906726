// Removes the folders of sessions that were closed long ago: their logs, and the records of their commands. By then the
// Temporal server has forgotten their workflows, too, and delivers no command of theirs again.
import { existsSync, lstatSync, renameSync } from 'node:fs';
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { SessionRef } from '../../contracts/ids';
import { listSessions, sessionPaths } from '../session-paths';

export interface RetentionOptions {
  dataDir: string;
  /** Only sessions of this host. Default: all. */
  host?: string;
  /** How long a closed session is kept, in milliseconds. */
  keepMs: number;
  /** Whether it is not open, nor about to be. */
  isClosed: (ref: SessionRef) => boolean;
}

export interface ClosedLongAgo {
  ref: SessionRef;
  /** When something of it changed last, in milliseconds since the Unix epoch. */
  closedAt: number;
  bytes: number;
}

/** Batch size: a host may have thousands of closed sessions. */
const AT_A_TIME = 100;

export class Retention {
  private readonly removed: string;

  constructor(private readonly options: RetentionOptions) {
    this.removed = join(options.dataDir, 'removed');
  }

  /** Those to be removed, the oldest first. Reads only folders that are old enough. */
  async due(now = Date.now()): Promise<ClosedLongAgo[]> {
    const { dataDir, host, keepMs } = this.options;
    const refs = listSessions(dataDir).filter((ref) => host === undefined || ref.host === host);
    const due: ClosedLongAgo[] = [];
    for (let at = 0; at < refs.length; at += AT_A_TIME) {
      const looks = refs.slice(at, at + AT_A_TIME).map(async (ref) => {
        const closedAt = await this.closedAt(ref);
        if (closedAt === undefined || closedAt > now - keepMs) return;
        due.push({ ref, closedAt, bytes: await bytesIn(sessionPaths(dataDir, ref).directory) });
      });
      await Promise.all(looks);
    }
    return due.sort((a, b) => a.closedAt - b.closedAt);
  }

  /** Removes all of a session or nothing: one that was opened again stays. Returns whether it was removed. */
  async remove({ ref, closedAt }: Pick<ClosedLongAgo, 'ref' | 'closedAt'>): Promise<boolean> {
    const { directory, holder } = sessionPaths(this.options.dataDir, ref);
    await mkdir(this.removed, { recursive: true, mode: 0o700 });
    const aside = join(this.removed, `${basename(directory)}.${process.pid}`);
    // Synchronously from the check to the move: this process cannot open it in between. Another process that opens it
    // writes its configuration first, before there is a holder.
    const changedAt = lstatSync(directory, { throwIfNoEntry: false })?.mtimeMs;
    if (changedAt !== closedAt || !this.options.isClosed(ref) || existsSync(holder)) return false;
    renameSync(directory, aside);
    await rm(aside, { recursive: true, force: true });
    return true;
  }

  /**
   * Also what an interrupted removal left behind. Returns what was removed.
   * @param timeElsewhere asked before anything is removed: the clock of this machine may be months ahead
   */
  async look(timeElsewhere?: () => Promise<number>): Promise<ClosedLongAgo[]> {
    const removed: ClosedLongAgo[] = [];
    const due = await this.due();
    const now = due.length > 0 && timeElsewhere ? await timeElsewhere() : Infinity;
    for (const one of due)
      if (one.closedAt <= now - this.options.keepMs && (await this.remove(one))) removed.push(one);
    await rm(this.removed, { recursive: true, force: true });
    return removed;
  }

  /** Undefined while it is open, or if its end was not recorded: then its next command reports what was lost. */
  private async closedAt(ref: SessionRef): Promise<number | undefined> {
    const { directory, holder } = sessionPaths(this.options.dataDir, ref);
    const found = await lstat(directory).catch(() => undefined);
    if (!found || !this.options.isClosed(ref) || existsSync(holder)) return undefined;
    return found.mtimeMs;
  }
}

async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = names.map(async (name) => {
    const found = await lstat(join(folder, name)).catch(() => undefined);
    return found?.isFile() ? found.size : 0;
  });
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
}
