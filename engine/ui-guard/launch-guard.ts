// Starts the guard of the web UI as a separate process, which ends with the server that it protects.
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { compiledEntry } from '../../system/package-root';
import { identityOf, type Identity } from '../../system/processes/process-identity';
import { LOOPBACK, type EnginePorts, type HiddenPorts } from '../ports';
import type { EnginePaths } from '../record';
import type { GuardConfig } from './ui-guard-main';

/** A few file descriptors per connection; its heap stays far below this. */
const HEAP_MB = 64;

/** Starts it; it does not answer yet. */
export function launchGuard(
  { uiPort, ui, identity }: Pick<EnginePorts & HiddenPorts, 'uiPort' | 'ui'> & { identity: Identity },
  paths: EnginePaths,
): Identity {
  const config: GuardConfig = {
    listen: { address: LOOPBACK, port: uiPort },
    target: ui,
    // Browsers omit port 80.
    hosts: [LOOPBACK, 'localhost'].map((name) => (uiPort === 80 ? name : `${name}:${uiPort}`)),
    tokenFile: paths.uiAuthorization,
    server: identity,
    lock: paths.running,
    log: paths.logFile,
  };
  const log = openSync(paths.logFile, 'a', 0o600);
  try {
    const args = [`--max-old-space-size=${HEAP_MB}`, compiledEntry('engine/ui-guard/ui-guard-main.js')];
    const child = spawn(process.execPath, [...args, JSON.stringify(config)], {
      cwd: paths.folder,
      detached: true,
      stdio: ['ignore', log, log],
      // It needs nothing from our environment, least of all its keys.
      env: {},
    });
    child.on('error', () => undefined);
    if (child.pid === undefined)
      throw new HoldfastError('engine_failed', {
        reason: 'the guard of the web UI cannot be started',
        log: paths.logFile,
      });
    child.unref();
    return identityOf(child.pid);
  } finally {
    closeSync(log);
  }
}
