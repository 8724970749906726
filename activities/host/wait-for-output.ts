// Waits at the holders until sessions have what their reader asked for. Patterns are matched here, so that a slow
// expression stalls no terminal.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { ReadOutputInput, WaitForSessionsInput } from '../../contracts/sessions/host';
import type { Wait, WaitReason } from '../../contracts/sessions/session';
import type { SessionRef } from '../../contracts/ids';
import { logStart } from '../../exec/output/log-reader';
import type { ObserveReason, Snapshot, Until } from '../../exec/protocol';
import type { Terminals } from '../../exec/terminals';
import { keptTexts } from '../../exec/output/view';
import { withinTime } from '../../system/time-limit';

/** Window size for searching a pattern. */
const PATTERN_WINDOW_BYTES = 65_536;
const OVERLAP_BYTES = 4_096;
const PATTERN_MS = 500;

type WaitInput = Pick<ReadOutputInput, 'ref' | 'from' | 'waitMs'> & { wait: Wait };

export interface Waited {
  ref: SessionRef;
  reason: WaitReason;
  snapshot: Snapshot;
}

/** Waits for several sessions at once: until all, or any, meet their conditions, or the time is up. */
export async function waitForSessions(
  sessions: Terminals,
  { ref, targets, wait, mode, waitMs }: WaitForSessionsInput,
  signal: AbortSignal,
): Promise<Waited[]> {
  const enough = new AbortController();
  const stop = AbortSignal.any([signal, enough.signal]);
  const one = async ({ session, from }: (typeof targets)[number]): Promise<Waited> => {
    const target = { ...ref, session };
    try {
      const waited = await waitForOutput(sessions, { ref: target, from, wait, waitMs }, stop);
      if (mode === 'any' && waited.reason !== 'timeout') enough.abort();
      return waited;
    } catch (err) {
      if (signal.aborted || !enough.signal.aborted) throw err;
      // Another one was enough: report this one's current state, in which it may have ended, too.
      const snapshot = await sessions.status(target);
      return { ref: target, reason: isRunning(snapshot) ? 'timeout' : 'exit', snapshot };
    }
  };
  for (const { session } of targets) {
    if (sessions.exists({ ...ref, session })) continue;
    throw new HoldfastError('not_found', { what: `Session ${session} of agent ${ref.agent}`, got: session });
  }
  try {
    return await Promise.all(targets.map(one));
  } finally {
    enough.abort();
  }
}

const isRunning = ({ command }: Snapshot): boolean => command !== null && command.endedAt === null;

/** Waits for one session. */
export async function waitForOutput(
  sessions: Terminals,
  { ref, from, wait, waitMs }: WaitInput,
  signal: AbortSignal,
): Promise<Waited> {
  if (wait.startsWith('pattern:')) {
    const pattern = wait.slice('pattern:'.length);
    return { ref, ...(await waitForPattern(sessions, { ref, from, pattern, waitMs }, signal)) };
  }
  const { end } = await sessions.status(ref);
  const kind = wait as Exclude<Until['kind'], 'yield'>;
  const until = { kind, from: from ?? end, timeoutMs: waitMs };
  const { reason, snapshot } = await sessions.observe(ref, until, signal);
  return { ref, reason: waitReason(reason), snapshot };
}

async function waitForPattern(
  sessions: Terminals,
  { ref, from, pattern, waitMs }: Omit<WaitInput, 'wait'> & { pattern: string },
  signal: AbortSignal,
): Promise<Omit<Waited, 'ref'>> {
  const until = Date.now() + waitMs;
  let snapshot = await sessions.status(ref);
  const start = from ?? snapshot.command?.from ?? 0;
  for (let scanned = start; ;) {
    do {
      // Windows overlap, so that a match across an edge is found.
      const log = sessions.logPath(ref);
      scanned = Math.min(Math.max(scanned, logStart(log)), snapshot.end);
      const begin = Math.max(start, scanned - OVERLAP_BYTES);
      scanned = Math.min(scanned + PATTERN_WINDOW_BYTES, snapshot.end);
      for (const text of await keptTexts(log, { from: begin, to: scanned }, snapshot.lost))
        if (matches(pattern, text)) return { reason: 'pattern', snapshot };
    } while (scanned < snapshot.end);
    const next: Until = { kind: 'output', from: snapshot.end, timeoutMs: Math.max(0, until - Date.now()) };
    const { reason, snapshot: now } = await sessions.observe(ref, next, signal);
    // More may have arrived between the last look and the end: look once more.
    if (reason === 'timeout' || (reason === 'exit' && now.end === snapshot.end))
      return { reason: waitReason(reason), snapshot: now };
    snapshot = now;
  }
}

/** An observer's reason as a wait reason: the only possible yield is `waiting_input`. */
const waitReason = (reason: ObserveReason): WaitReason =>
  reason === 'exit' || reason === 'output' || reason === 'idle' || reason === 'timeout'
    ? reason
    : 'needs_input';

/** Matches with a time limit: an expression with catastrophic backtracking must not stall the worker. */
function matches(pattern: string, text: string): boolean {
  try {
    return withinTime(PATTERN_MS, () => new RegExp(pattern, 'm').test(text));
  } catch (err) {
    const got = `${pattern} (${(err as Error).message})`;
    throw new HoldfastError('invalid_input', {
      what: 'The pattern',
      got,
      allowed: 'a fast regular expression',
    });
  }
}
