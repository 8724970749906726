// Ends a process group whose leader is not necessarily our child, identifying the leader so that no other process is
// ever hit.
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, type Identity } from './process-identity';

const LOOK_EVERY_MS = 25;

/**
 * Sends SIGTERM to the group, and SIGKILL after `graceMs`; resolves when the leader is gone. To the group, because
 * the executable may be a wrapper that runs the server as its child.
 */
export async function endGroup(identity: Identity, graceMs: number): Promise<void> {
  send(identity, 'SIGTERM');
  // A stopped process would handle it only when continued.
  send(identity, 'SIGCONT');
  const deadline = performance.now() + graceMs;
  while (isAlive(identity)) {
    if (performance.now() >= deadline) send(identity, 'SIGKILL');
    await sleep(LOOK_EVERY_MS);
  }
}

function send(identity: Identity, signalName: NodeJS.Signals): void {
  if (!isAlive(identity)) return;
  // The group first; only the process if it leads none.
  if (!kill(-identity.pid, signalName)) kill(identity.pid, signalName);
}

/** False when there is no such process or group. */
function kill(pid: number, signalName: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signalName);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'ESRCH') throw err;
    return false;
  }
}
