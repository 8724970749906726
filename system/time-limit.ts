// Limits for code that may never end, such as an expression that backtracks. They count processor time: a process that
// got none, because the machine was busy or the process was stopped, says nothing about the code.
import { runInNewContext } from 'node:vm';

/**
 * Runs `work`, which must be free of effects: it may be cut short and run again, with more time. Throws the error of
 * `node:vm` when a run has used up the limit.
 */
export function withinTime<T>(limitMs: number, work: () => T): T {
  for (let timeout = limitMs; ; timeout *= 2) {
    const before = processorMs();
    try {
      return runInNewContext('work()', { work }, { timeout }) as T;
    } catch (err) {
      const wasCut = (err as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
      // A cut comes on the millisecond, and the clocks are not the same.
      if (!wasCut || processorMs() - before >= 0.9 * limitMs) throw err;
    }
  }
}

/** Whether the time has been used up, for work that asks again and again. */
export function timeLimit(limitMs: number): () => boolean {
  const [until, untilProcessor] = [performance.now() + limitMs, processorMs() + limitMs];
  return () => performance.now() > until && processorMs() > untilProcessor;
}

/** Processor time of this thread in milliseconds; before Node 23.9, of the whole process, which is never less. */
function processorMs(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage)();
  return (user + system) / 1_000;
}
