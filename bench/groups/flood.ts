// 100 MB of output as fast as a program can print it, and its cost in memory for the worker and the holder.
import * as pty from 'node-pty';
import { inTurn, below, timed, type Row } from '../measure';
import { holderPid, peakMb, residentMb } from '../processes';
import { uniqueId, type Bench } from '../setting';

const BYTES = 100_000_000;
/** A terminal adds one byte to each line end. */
const ON_TERMINAL = BYTES * 1.01;
/** Lines of 100 bytes. */
const FLOOD = `yes ${'x'.repeat(99)} | head -c ${BYTES}`;
const LEAST = 0.85;
const PATIENT = { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000 };

export async function flood({ client, dataDir, worker }: Bench): Promise<Row[]> {
  const ref = { agent: uniqueId('flood'), host: 'local', session: 0 };
  const session = client.session(ref);
  await session.exec({ code: 'true' });
  const pids = [(await worker()).identity.pid, holderPid(dataDir, ref)];
  const before = pids.map(residentMb);
  const peaks = [0, 0];
  const ours = async (): Promise<number> => {
    let took = 0;
    const seen = await peakMb(pids, async () => {
      took = await timed(() => session.exec({ code: FLOOD, yield: PATIENT }));
    });
    seen.forEach((mb, index) => (peaks[index] = Math.max(peaks[index] ?? 0, mb)));
    return took;
  };
  const { ours: mine, base } = await inTurn(5, ours, () => timed(barePtyFlood));
  await session.close('measured');
  const rate = (ms: number): number => BYTES / 1e6 / (ms / 1e3);
  const grown = (index: number): number => (peaks[index] ?? NaN) - (before[index] ?? NaN);
  const holder = { ours: grown(1), base: null, unit: 'MB' as const, target: null, met: null };
  return [
    {
      name: '100 MB flood / bare node-pty',
      ours: rate(mine),
      base: rate(base),
      unit: 'MB/s',
      target: `at least ${LEAST}x`,
      met: base / mine >= LEAST,
    },
    below("flood: growth of the worker's memory at its most", grown(0), 'MB', 64),
    { name: "flood: growth of the holder's memory at its most", ...holder },
  ];
}

function barePtyFlood(): Promise<void> {
  return new Promise((resolve, reject) => {
    const terminal = pty.spawn('sh', ['-c', `${FLOOD}; read -r _`], { encoding: null, cols: 120, rows: 40 });
    let bytes = 0;
    terminal.onData((data) => {
      bytes += data.length;
      if (bytes < ON_TERMINAL) return;
      terminal.kill('SIGKILL');
      resolve();
    });
    terminal.onExit(() => {
      if (bytes < ON_TERMINAL) reject(new Error(`the flood ended at ${bytes}`));
    });
  });
}
