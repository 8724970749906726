// How long a command's caller waits for the next worker when the first was killed.
import { logEnd } from '../../exec/output/log-reader';
import { sessionPaths } from '../../exec/session-paths';
import { below, median, type Row } from '../measure';
import { uniqueId, until, type Bench } from '../setting';

const ROUNDS = 5;

/** From the new worker's first poll to the answer of a command that ended while no worker lived. */
export async function workerKilled({ client, dataDir, worker }: Bench): Promise<Row[]> {
  const times: number[] = [];
  const agent = uniqueId('killed');
  for (let session = 0; session < ROUNDS; session++) {
    const ref = { agent, host: 'local', session };
    const { log } = sessionPaths(dataDir, ref);
    const { identity } = await worker();
    const running = client.session(ref).exec({ code: 'echo begun; sleep 0.3; echo ended' });
    await until(() => logEnd(log) >= 'begun\r\n'.length);
    process.kill(identity.pid, 'SIGKILL');
    await until(() => logEnd(log) >= 'begun\r\nended\r\n'.length);
    const { pollingSince } = await worker();
    await running;
    times.push(Date.now() - pollingSince);
    await client.session(ref).close('measured');
  }
  return [below('worker killed: first poll of the next to the answer', median(times), 'ms', 1_000)];
}
