// S17: sessions that have ended hold nothing: no descriptor, process, thread or CPU, in the host and in the system.
import { readdirSync } from 'node:fs';
import { count } from '../../../helpers/run/long-run';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { childrenOf } from '../../../../system/processes/proc';
import {
  cpuTicks,
  endWithoutTrace,
  eventually,
  holderOf,
  linksOf,
  logOf,
  otherSession,
  processesMarked,
} from '../session-processes';

const SESSIONS = count(40, 1_000);
const EPOCHS = count(30, 100);
const REQUESTS = count(20, 50);

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

interface Held {
  descriptors: number;
  threads: number;
  children: number;
  processes: string[];
  terminals: number;
}

/** What this process, which is the host, and the system hold for sessions. */
const held = (): Held => ({
  descriptors: linksOf('self').filter(
    (link) => /^(socket|pipe|\/dev\/ptmx|\/dev\/pts)/.test(link) || link.includes(t.dataDir),
  ).length,
  threads: readdirSync('/proc/self/task').length,
  // Zombies too.
  children: childrenOf(process.pid).length,
  processes: processesMarked(t.dataDir, t.cwd),
  terminals: linksOf('self').filter((link) => link === '/dev/ptmx').length,
});

async function ticksOfASecond(): Promise<number> {
  const ticks = cpuTicks('self');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  return cpuTicks('self') - ticks;
}

async function openAndClose(session: number): Promise<void> {
  const ref = otherSession(t, session);
  const view = await t.run('sleep 600 & echo "$((40 + 2))"', { ref });
  expect(view).toMatchObject({ exitCode: 0 });
  expect(logOf(t, ref).toString()).toContain('42\r\n');
  await t.host.close(ref, 'done');
}

/** Four at a time: on two cores, starting holders takes most of the time. */
async function many(from: number, to: number): Promise<void> {
  let next = from;
  const one = async (): Promise<void> => {
    while (next < to) await openAndClose(next++);
  };
  await Promise.all([one(), one(), one(), one()]);
}

test('many sessions, opened and closed, leave no descriptor, thread, zombie, process or CPU use behind', async () => {
  await many(0, 8);
  const before = held();
  expect(before.processes).toEqual([]);
  await many(8, SESSIONS);
  const isBack = (now: Held): boolean =>
    now.descriptors <= before.descriptors &&
    now.children <= before.children &&
    now.threads <= before.threads &&
    now.processes.length === 0;
  const after = await eventually(held, isBack);
  // A decrease is not a leak: things held by an earlier test file of this process may have ended meanwhile.
  expect(isBack(after) ? before : after).toEqual(before);
  // Of one second less than a third: jest may be collecting garbage in one, what spins takes all of each.
  expect(await eventually(ticksOfASecond, (ticks) => ticks < 30, 10_000)).toBeLessThan(30);
}, 600_000);

test('many epochs of one session leave its holder with what it held before', async () => {
  const ref = otherSession(t, 2_000);
  const again = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n++) {
      await t.run(n % 2 ? 'exit 3' : 'sleep 600 & exit', { ref });
    }
    await t.run(':', { ref });
  };
  await again(3);
  const holder = holderOf(t, ref);
  const count = (): number[] => [
    linksOf(holder).length,
    readdirSync(`/proc/${holder}/task`).length,
    childrenOf(holder).length,
  ];
  const before = count();
  await again(EPOCHS);
  const isBack = (now: number[]): boolean => now.every((n, i) => n <= (before[i] ?? 0));
  const after = await eventually(count, isBack);
  // A decrease is not a leak: the first shells may not have been cleaned up when they were counted.
  expect(isBack(after) ? before : after).toEqual(before);
}, 120_000);

test('hundreds of requests leave no descriptor and no observer behind', async () => {
  await t.run('read -r x');
  const before = linksOf('self').length;
  for (let n = 0; n < REQUESTS; n++) {
    await Promise.all(
      Array.from({ length: 40 }, () => t.host.observe(t.ref, { kind: 'exit', from: 0, timeoutMs: 1 })),
    );
  }
  expect(linksOf('self').length).toBeLessThanOrEqual(before);
  const holder = holderOf(t);
  const ticks = cpuTicks(holder);
  await t.until({ kind: 'exit', from: 0, timeoutMs: 1_500 });
  expect(cpuTicks(holder) - ticks).toBeLessThan(15);
});
