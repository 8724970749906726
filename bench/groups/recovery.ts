// How long a script that calls a tool in a loop waits for its next answer when the worker is killed and another is
// started at once. The kill comes at any moment: between two calls, or in the middle of a workflow task.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from '../../system/processes/process-identity';
import { below, median, type Row } from '../measure';
import { uniqueId, until, type Bench } from '../setting';

const KILLS = 20;
const CALL_EVERY_MS = 100;
const QUICK_YIELD = { firstOutputMs: 300, betweenOutputMs: 300, maxMs: 300, promptMs: 300 };

/** Writes the time of each answer, in milliseconds since 1970, as a line. */
const script = (answers: string): string => `
import codex_tools, time
with open(${JSON.stringify(answers)}, "a", buffering=1) as out:
    while True:
        codex_tools.list_dir(dir_path="/proc/self/task")
        out.write(f"{time.time_ns() // 1_000_000}\\n")
        time.sleep(${CALL_EVERY_MS / 1_000})
`;

export async function recovery({ client, dataDir, worker }: Bench): Promise<Row[]> {
  const answers = join(dataDir, 'answers');
  const session = client.session({ agent: uniqueId('recovery'), host: 'local', session: 0 });
  await worker();
  await session.exec({ runtime: 'python', code: script(answers), yield: QUICK_YIELD });
  const answeredSince = (time: number): number | undefined =>
    readLines(answers)
      .map(Number)
      .find((at) => at > time);
  const fromKill: number[] = [];
  const fromPolling: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const started = Date.now();
    await until(() => answeredSince(started) !== undefined);
    // Anywhere between two calls or within one.
    await delay((kill * 37) % 250);
    const { identity } = await worker();
    const killedAt = Date.now();
    process.kill(identity.pid, 'SIGKILL');
    // Until then it seems to be serving.
    await until(() => !isAlive(identity));
    const { pollingSince } = await worker();
    // An answer that was already on its way does not count.
    await until(() => answeredSince(pollingSince) !== undefined);
    const next = answeredSince(pollingSince) ?? NaN;
    fromKill.push(next - killedAt);
    fromPolling.push(next - pollingSince);
  }
  await session.close('measured');
  return [
    below('recovery: kill to the next answer of a script, median', median(fromKill), 'ms', 1_500),
    below('recovery: the same, slowest of 20', Math.max(...fromKill), 'ms', 3_000),
    below('recovery: first poll to the next answer, median', median(fromPolling), 'ms', 1_000),
  ];
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').trim().split('\n');
  } catch {
    // Before its first answer.
    return [];
  }
}
