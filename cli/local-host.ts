// The sessions of this machine as their holders and files report them, without a server or a worker.
import { commandView } from '../exec/host/command-view';
import { detectTreeKill } from '../exec/processes/process-tree';
import { endOf, segmentsOf } from '../exec/output/log-segments';
import { SessionHost } from '../exec/host/session-host';
import { sessionPaths } from '../exec/session-paths';
import { MAX_PAGE_BYTES, type CommandView } from '../contracts/sessions/session';
import type { SessionRef } from '../contracts/ids';

let treeKill: ReturnType<typeof detectTreeKill> | undefined;

/** Runs `work` with a host that opens no session. */
export async function withLocalHost<T>(dataDir: string, work: (host: SessionHost) => Promise<T>): Promise<T> {
  const host = new SessionHost({ dataDir, cwd: '/', env: {}, treeKill: (treeKill ??= detectTreeKill()) });
  try {
    return await work(host);
  } finally {
    host.detach();
  }
}

/**
 * The last command of a session that is closed, with its output from `from`: one page, or head and tail. Undefined where
 * no log of the session is kept here.
 */
export function keptView(
  dataDir: string,
  ref: SessionRef,
  from: number | undefined,
): Promise<CommandView | undefined> {
  return withLocalHost(dataDir, async (host) => {
    const logPath = sessionPaths(dataDir, ref).log;
    if (endOf(segmentsOf(logPath)) === 0) return undefined;
    const snapshot = await host.status(ref);
    const maxBytes = from === undefined ? null : MAX_PAGE_BYTES;
    return commandView({ ref, logPath, snapshot, from: from ?? null, maxBytes });
  });
}
