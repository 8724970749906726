// The process of the web UI's guard: `node ui-guard-main.js JSON`. It lives as long as the server that it protects, and
// ends on SIGTERM. docker-compose.temporal.yml also runs it, so it needs nothing from node_modules.
import '../../system/compile-cache';
import { keepBounded } from '../../system/log/bounded-log';
import { SERVER_LOG } from '../../system/log/log-tail';
import { outliveLog } from '../../system/log/outlive-log';
import { holdLock } from '../../system/lock';
import { isAlive, type Identity } from '../../system/processes/process-identity';
import { createUiGuard, type GuardTarget } from './ui-guard';
import { uiToken } from './ui-token';

export interface GuardConfig {
  listen: { address: string; port: number };
  target: GuardTarget;
  hosts: readonly string[];
  /** Null: no token is required. */
  tokenFile: string | null;
  /** Null: it lives until it is killed. */
  server: Identity | null;
  /** A lock that it holds for as long as it lives. */
  lock?: string;
  /** The log that the server and it append to: it moves a full one aside, since the server never does. */
  log?: string;
}

const LOOK_EVERY_MS = 500;

outliveLog();
const { listen, target, hosts, tokenFile, server, lock, log } = JSON.parse(
  process.argv[2] ?? '',
) as GuardConfig;
const guard = createUiGuard(target, { hosts, token: tokenFile === null ? null : uiToken(tokenFile) });
guard.once('error', (err) => {
  console.error(`The guard of the web UI: ${err.message}`);
  process.exit(1);
});
const serve = (): unknown => guard.listen(listen.port, listen.address);
// On a full or read-only disk it serves without the lock.
if (lock === undefined) serve();
else void holdLock(lock).then(serve, serve);
if (log !== undefined)
  keepBounded(log, SERVER_LOG, (message, facts) =>
    console.error(`The guard of the web UI: ${message}`, facts),
  );
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));
// The terminal that it was started from may be closed.
process.on('SIGHUP', () => undefined);
if (server) setInterval(look, LOOK_EVERY_MS, server);

function look(protectedOne: Identity): void {
  try {
    if (!isAlive(protectedOne)) process.exit(0);
  } catch {
    // With too many connections no file can be opened; the next look shows it.
  }
}
