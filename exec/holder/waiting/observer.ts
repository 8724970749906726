// Decides when an observer gets its answer. Pure: takes facts and the time, returns a reason or the time of the next
// look.
import type { Waiting } from '../../../contracts/sessions/session';
import type { ObserveReason, Until } from '../../protocol';

/** All times are of one clock. */
export interface Facts {
  now: number;
  running: boolean;
  startedAt: number;
  /** 0 when nothing was ever printed. */
  lastOutputAt: number;
  end: number;
  waiting: Waiting | null;
  waitingSince: number;
  /** The cursor is behind a prompt that was answered before. */
  promptIsBack: boolean;
  /** When this observer began. */
  observedSince: number;
}

/** Silence that `idle` waits for, in milliseconds. */
const IDLE_MS = 1_000;

/** The reason to answer now, or when to look again if nothing happens before. */
export function decide(until: Until, facts: Facts): { reason: ObserveReason } | { at: number } {
  return until.kind === 'yield' ? decideYield(until, facts) : decideWait(until, facts);
}

function decideYield(
  until: Extract<Until, { kind: 'yield' }>,
  facts: Facts,
): { reason: ObserveReason } | { at: number } {
  const { settings } = until;
  const { now, lastOutputAt, waiting } = facts;
  if (!facts.running) return { reason: 'exit' };
  if (waiting && (waiting.certainty === 'certain' || facts.promptIsBack)) return { reason: 'waiting_input' };
  const base = Math.max(facts.startedAt, until.sinceMs ?? 0);
  const silence: { at: number; reason: ObserveReason } =
    lastOutputAt >= base
      ? { at: lastOutputAt + settings.betweenOutputMs, reason: 'between_output' }
      : { at: base + settings.firstOutputMs, reason: 'first_output' };
  const deadlines: { at: number; reason: ObserveReason }[] = [
    silence,
    { at: base + settings.maxMs, reason: 'max' },
  ];
  if (waiting) deadlines.push({ at: facts.waitingSince + settings.promptMs, reason: 'waiting_input' });
  const first = deadlines.reduce((a, b) => (b.at < a.at ? b : a));
  return first.at <= now ? { reason: first.reason } : { at: first.at };
}

function decideWait(
  until: Exclude<Until, { kind: 'yield' }>,
  facts: Facts,
): { reason: ObserveReason } | { at: number } {
  const { now, running, waiting } = facts;
  if (!running) return { reason: 'exit' };
  if (until.kind === 'output' && facts.end > until.from) return { reason: 'output' };
  // A hint is not enough to report that it needs input: a progress display polls its keys too.
  if (until.kind === 'needs_input' && waiting && waiting.certainty !== 'hint')
    return { reason: 'waiting_input' };
  const deadline = facts.observedSince + until.timeoutMs;
  if (deadline <= now) return { reason: 'timeout' };
  if (until.kind !== 'idle') return { at: deadline };
  const idleAt = Math.max(facts.lastOutputAt, facts.startedAt) + IDLE_MS;
  return idleAt <= now ? { reason: 'idle' } : { at: Math.min(idleAt, deadline) };
}
