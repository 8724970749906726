import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stateOf } from '../../../../exec/client/holder-pulse';
import { identityOf } from '../../../../system/processes/process-identity';
import { until } from '../../../helpers/until';

/** The kernel holds up the caller of vfork(2), uninterruptibly, until its child ends: like a disk that does not answer. */
const HELD_UP = 'import ctypes, time; ctypes.CDLL(None).vfork(); time.sleep(600)';

test('a holder that the kernel holds up, as at a disk that does not answer, is reported as such', async () => {
  const program = spawn('python3', ['-c', HELD_UP], { detached: true, stdio: 'ignore' });
  const [pid, ended] = [program.pid ?? 0, once(program, 'exit')];
  try {
    // While it starts, the kernel may hold it up for moments.
    const told = (): string => stateOf({ identity: identityOf(pid) });
    await until(() => told() === 'held up by a disk that does not answer (D)');
  } finally {
    // Its child is in its group.
    process.kill(-pid, 'SIGKILL');
    await ended;
  }
});
