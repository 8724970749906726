// Keeps the logs of all sessions of a host within one bound. Each holder enforces its own session's bound, even while
// no worker runs; this bound covers the total over many sessions, including closed ones.
import { writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { SessionRef } from '../../contracts/ids';
import { endOf, removeSegment, segmentPath, segmentsOf, type Segment } from '../output/log-segments';
import { listSessions, sessionPaths } from '../session-paths';

export interface LogQuotaOptions {
  dataDir: string;
  host: string;
  maxBytes: number;
  /** Whether the session's log is not written, nor about to be. */
  isClosed: (ref: SessionRef) => boolean;
}

interface SessionLog {
  ref: SessionRef;
  path: string;
  bytes: number;
  /** Time of the last write, in milliseconds. */
  lastUsed: number;
}

/** What is known about a closed session; valid while its folder is unchanged. */
interface Known extends Pick<SessionLog, 'bytes' | 'lastUsed'> {
  changedAt: number;
}

/** Batch size: a host may have thousands of closed sessions. */
const AT_A_TIME = 100;

export class LogQuota {
  private known = new Map<string, Known>();
  /** Size of all logs after the last look; 0 before the first. */
  bytes = 0;

  constructor(private readonly options: LogQuotaOptions) {}

  /**
   * Removes the excess. Open and closed sessions may each use half, and what the other half leaves free: the largest
   * log of an open session loses its oldest part; of the closed sessions, the one that ended longest ago loses its log.
   */
  async look(): Promise<void> {
    const { maxBytes } = this.options;
    const { open, closed } = await this.find();
    const sum = (logs: readonly SessionLog[]): number => logs.reduce((bytes, log) => bytes + log.bytes, 0);
    let [openBytes, closedBytes] = [sum(open), sum(closed)];
    closed.sort((a, b) => a.lastUsed - b.lastUsed);
    this.bytes = openBytes + closedBytes;
    while (openBytes + closedBytes > maxBytes) {
      const oldest = closed[0];
      const freed = openBytes > maxBytes / 2 || !oldest ? this.cutLargest(open) : 0;
      openBytes -= freed;
      if (freed === 0 && !oldest) return;
      if (freed === 0 && oldest) {
        closed.shift();
        closedBytes -= this.dropClosed(oldest);
      }
      this.bytes = openBytes + closedBytes;
    }
  }

  private async find(): Promise<{ open: SessionLog[]; closed: SessionLog[] }> {
    const { dataDir, host, isClosed } = this.options;
    const found = { open: [] as SessionLog[], closed: [] as SessionLog[] };
    const before = this.known;
    this.known = new Map();
    const refs = listSessions(dataDir).filter((ref) => ref.host === host);
    for (let at = 0; at < refs.length; at += AT_A_TIME) {
      const looks = refs.slice(at, at + AT_A_TIME).map(async (ref) => {
        const { directory, log: path } = sessionPaths(dataDir, ref);
        const changedAt = (await stat(directory).catch(() => undefined))?.mtimeMs;
        if (changedAt === undefined) return;
        if (!isClosed(ref)) return void found.open.push({ ref, path, ...sizeOf(segmentsOf(path)) });
        const known = before.get(directory);
        const now = known?.changedAt === changedAt ? known : { ...sizeOf(segmentsOf(path)), changedAt };
        this.known.set(directory, now);
        if (now.bytes > 0) found.closed.push({ ref, path, ...now });
      });
      await Promise.all(looks);
    }
    return found;
  }

  /** Returns how many bytes were freed; 0 if each log consists only of the file being written. */
  private cutLargest(open: SessionLog[]): number {
    open.sort((a, b) => b.bytes - a.bytes);
    for (const log of open) {
      const [oldest, next] = segmentsOf(log.path);
      if (!oldest || !next) continue;
      removeSegment(oldest);
      log.bytes -= oldest.bytes;
      return oldest.bytes;
    }
    return 0;
  }

  /** Checks again that it is closed, synchronously, so that no holder can begin to write in between. */
  private dropClosed({ ref, path, bytes }: SessionLog): number {
    if (!this.options.isClosed(ref)) return 0;
    dropLog(path);
    return bytes;
  }
}

const sizeOf = (segments: readonly Segment[]): Pick<SessionLog, 'bytes' | 'lastUsed'> => ({
  bytes: segments.reduce((sum, segment) => sum + segment.bytes, 0),
  lastUsed: segments.at(-1)?.writtenAt ?? 0,
});

/** Removes all of a log that is not written; later output begins at the offset where it ended. */
export function dropLog(path: string): void {
  const segments = segmentsOf(path);
  const end = endOf(segments);
  const last = segments.pop();
  if (!last || last.from === end) return segments.forEach(removeSegment);
  // On a full disk, only the space that these free makes room for the name of the next segment.
  segments.forEach(removeSegment);
  writeFileSync(segmentPath(path, end), '', { flag: 'a', mode: 0o600 });
  removeSegment(last);
}

export interface LogUsage {
  host: string;
  sessions: number;
  bytes: number;
  largest: { ref: SessionRef; bytes: number };
}

/** Bytes used by the logs of a data folder, for each host. */
export function logUsage(dataDir: string): LogUsage[] {
  const hosts = new Map<string, LogUsage>();
  for (const ref of listSessions(dataDir)) {
    const { bytes } = sizeOf(segmentsOf(sessionPaths(dataDir, ref).log));
    const host = hosts.get(ref.host);
    if (!host) {
      hosts.set(ref.host, { host: ref.host, sessions: 1, bytes, largest: { ref, bytes } });
      continue;
    }
    host.sessions += 1;
    host.bytes += bytes;
    if (bytes > host.largest.bytes) host.largest = { ref, bytes };
  }
  return [...hosts.values()];
}
