// The cost of a hundred open sessions that are not used.
import { setTimeout as delay } from 'node:timers/promises';
import { LOCAL_HOST, type SessionRef } from '../../contracts/ids';
import { below, explaining, plain, type Row } from '../measure';
import { cpuPercent, cpuSeconds, proportionalMb, residentMb, sessionProcesses } from '../processes';
import { uniqueId, type Bench } from '../setting';

const SESSIONS = 100;
/** An agent may have 64. */
const PER_AGENT = 25;
const AT_ONCE = 8;
/** The worker looks at all open sessions this often: the figure includes one look. */
const SECONDS = 15;
const QUIET_SECONDS = 2;
/** Per cent of one core. */
const QUIET_PERCENT = 1;
const LONGEST_SECONDS = 60;

export async function idleSessions(bench: Bench): Promise<Row[]> {
  const { client, dataDir } = bench;
  const worker = (await bench.worker()).identity.pid;
  await untilQuiet([worker]);
  const [alone = NaN] = await cpuPercent(SECONDS, [[worker]]);
  const names = Array.from({ length: SESSIONS / PER_AGENT }, () => uniqueId('idle'));
  const refs = names.flatMap((agent) =>
    Array.from({ length: PER_AGENT }, (_, session) => ({ agent, host: LOCAL_HOST, session })),
  );
  await eightAtOnce(refs, (ref) => client.session(ref).exec({ code: 'true' }));
  const pids = refs.flatMap((ref) => sessionProcesses(dataDir, ref));
  await untilQuiet(pids);
  const [sessions = NaN, serving = NaN] = await cpuPercent(SECONDS, [pids, [worker]]);
  const memory = proportionalMb(pids) / SESSIONS;
  const resident = residentMb(worker);
  await eightAtOnce(refs, async (ref) => {
    await client.session(ref).close('measured');
    await client.session(ref).closed();
  });
  const more = Math.max(0, serving - alone);
  return [
    below(`${SESSIONS} idle sessions: what they take of one core`, sessions + more, '%', 1),
    plain('- of which holders and shells', sessions, '%'),
    explaining('- the worker with them / without', { ours: serving, base: alone }, '%'),
    plain('- memory of one (PSS of holder and shell)', memory, 'MB'),
    plain('- memory of the worker with them (RSS)', resident, 'MB'),
  ];
}

async function eightAtOnce(refs: SessionRef[], work: (ref: SessionRef) => Promise<unknown>): Promise<void> {
  const left = [...refs];
  const lane = async (): Promise<void> => {
    for (let ref = left.pop(); ref; ref = left.pop()) await work(ref);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** Until they use hardly any processor time, or for a minute: a worker beats and polls, so it always uses some. */
async function untilQuiet(pids: number[]): Promise<void> {
  const deadline = Date.now() + LONGEST_SECONDS * 1e3;
  for (let used = Infinity; used > QUIET_PERCENT && Date.now() < deadline;) {
    const before = cpuSeconds(pids);
    await delay(QUIET_SECONDS * 1e3);
    used = ((cpuSeconds(pids) - before) / QUIET_SECONDS) * 100;
  }
}
