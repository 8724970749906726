// Waits until a session has what its reader asked for, at the holder; patterns are matched here, so that a
// slow expression stalls no terminal.
import vm from 'node:vm';
import { HoldfastError } from '../contracts/errors';
import type { ReadOutputInput } from '../contracts/host';
import { readLog } from '../exec/log-reader';
import type { Snapshot, Until } from '../exec/protocol';
import { renderText } from '../exec/render';
import type { SessionHost } from '../exec/session-host';

/** A pattern is searched in so many bytes at a time. */
const PATTERN_WINDOW_BYTES = 65_536;
const OVERLAP_BYTES = 4_096;
const PATTERN_MS = 200;

type WaitRequest = Pick<ReadOutputInput, 'ref' | 'from' | 'waitMs'> & { wait: string };

export async function waitForOutput(
  sessions: SessionHost,
  { ref, from, wait, waitMs }: WaitRequest,
  signal: AbortSignal,
): Promise<Snapshot> {
  if (!wait.startsWith('pattern:')) {
    const { end } = await sessions.status(ref);
    const kind = wait as Exclude<Until['kind'], 'yield'>;
    return (await sessions.observe(ref, { kind, from: from ?? end, timeoutMs: waitMs }, signal)).snapshot;
  }
  const pattern = wait.slice('pattern:'.length);
  const until = Date.now() + waitMs;
  let snapshot = await sessions.status(ref);
  const start = from ?? snapshot.command?.from ?? 0;
  for (let scanned = start; ;) {
    do {
      // Windows overlap, so that what lies across an edge is found.
      const begin = Math.max(start, scanned - OVERLAP_BYTES);
      scanned = Math.min(scanned + PATTERN_WINDOW_BYTES, snapshot.end);
      if (matches(pattern, await renderText(readLog(sessions.logPath(ref), begin, scanned)))) return snapshot;
    } while (scanned < snapshot.end);
    const next: Until = { kind: 'output', from: snapshot.end, timeoutMs: Math.max(0, until - Date.now()) };
    const observed = await sessions.observe(ref, next, signal);
    // Between the last look and the end more may have come: it is looked at once more.
    if (observed.reason === 'timeout') return observed.snapshot;
    if (observed.reason === 'exit' && observed.snapshot.end === snapshot.end) return observed.snapshot;
    snapshot = observed.snapshot;
  }
}

/** Matches with a time limit: an expression with catastrophic backtracking must not stall the worker. */
function matches(pattern: string, text: string): boolean {
  try {
    const script = 'new RegExp(pattern, "m").test(text)';
    return vm.runInNewContext(script, { pattern, text }, { timeout: PATTERN_MS }) as boolean;
  } catch (err) {
    const got = `${pattern} (${(err as Error).message})`;
    throw new HoldfastError('invalid_input', {
      what: 'The pattern',
      got,
      allowed: 'a regular expression that is fast',
    });
  }
}
