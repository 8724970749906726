// Checks periodically that the logs of a host's sessions are within their limit, and removes sessions closed long ago.
import { LogQuota } from '../../exec/host/log-quota';
import { Retention } from '../../exec/host/retention';
import type { Terminals } from '../../exec/terminals';
import { RepeatedLook } from '../repeated-look';

/** Start and stop `looks` with the host's worker. `bytes`: the size of all logs, as of the last look. */
export function logLooks(options: {
  sessions: Terminals;
  host: string;
  maxBytes: number;
  log: (message: string, facts: object) => void;
}): { looks: RepeatedLook; bytes: () => number } {
  const { sessions, host, maxBytes, log } = options;
  const { dataDir } = sessions.options;
  const quota = new LogQuota({ dataDir, host, maxBytes, isClosed: (ref) => sessions.isClosed(ref) });
  const looks = new RepeatedLook(
    () => quota.look(),
    (error) => log('the logs of sessions could not be kept within their limit', { error }),
  );
  return { looks, bytes: () => quota.bytes };
}

const REMOVE_EVERY_MS = 600_000;

/** Start and stop it with the host's worker. */
export function retentionLooks(options: {
  sessions: Terminals;
  host: string;
  keepMs: number;
  serverTime: () => Promise<number>;
  log: (message: string, facts: object) => void;
}): RepeatedLook {
  const { sessions, host, keepMs, serverTime, log } = options;
  const { dataDir } = sessions.options;
  const retention = new Retention({ dataDir, host, keepMs, isClosed: (ref) => sessions.isClosed(ref) });
  return new RepeatedLook(
    () => retention.look(serverTime),
    (error) => log('closed sessions could not be removed', { error }),
    REMOVE_EVERY_MS,
  );
}
