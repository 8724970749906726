// Entries of a time line as all histories have them.
import type { TimeLineEntry } from '../../contracts/gateway/time-line';
import type { ActivitySpan } from './activity-spans';
import { timeOf, type HistoryEvent, type Run } from './read-runs';

/** With what readers do not get. */
export interface OwnEntry extends TimeLineEntry {
  /** Of a kill: the worker's process, which several histories may have missed at the same time. */
  process?: string | null;
}

export type Base = Pick<TimeLineEntry, 'workflowId' | 'turn' | 'message'> &
  Partial<Pick<TimeLineEntry, 'host' | 'session'>>;

export const iso = (at: number): string => new Date(at).toISOString();

export const entry =
  (base: Base) =>
  (
    kind: TimeLineEntry['kind'],
    { at, until, text }: { at: number; until: number | null; text: string },
  ): TimeLineEntry => ({
    ...base,
    ...{ kind, at: iso(at), text, outcome: null },
    durationMs: until === null ? null : Math.max(0, until - at),
  });

/** From when it was asked for to its end: what waited for a worker is part of it. */
export const lasting = (
  { scheduledAt, endedAt }: ActivitySpan,
  facts: Omit<TimeLineEntry, 'at' | 'durationMs'>,
): TimeLineEntry => ({
  ...facts,
  at: iso(scheduledAt),
  durationMs: endedAt === null ? null : Math.max(0, endedAt - scheduledAt),
});

/**
 * What became of the workers of an activity. When a worker died is in no history: it was between its last sign of life and
 * the first of the one that went on.
 */
export function fateEntries(span: ActivitySpan, run: Run, base: Base): OwnEntry[] {
  const { fate, attempt, scheduledAt, startedAt, endedAt, startedBy, endedBy, failure } = span;
  const make = entry(base);
  // It failed of that itself: the workflow sends it again, as another activity.
  const until = (failure === undefined ? startedAt : endedAt) ?? scheduledAt;
  const more = failure === undefined ? ` (attempt ${attempt})` : '';
  if (fate === 'killed') {
    const sign = lastSign(run, until, failure === undefined ? null : processOf(startedBy));
    const text = `A worker was killed, and another one goes on${more}`;
    return [
      { ...make('kill', { at: sign?.at ?? scheduledAt, until, text }), process: sign?.process ?? null },
    ];
  }
  if (fate === 'silent') {
    const at = (failure === undefined ? null : startedAt) ?? scheduledAt;
    return [make('silent', { at, until, text: `A worker fell silent, and another one goes on${more}` })];
  }
  const [before, after] = [processOf(startedBy), processOf(endedBy)];
  if (endedAt === null || before === null || after === null || before === after) return [];
  return [make('taken_over', { at: endedAt, until: endedAt, text: TAKEN_OVER })];
}

export const TAKEN_OVER = 'Another worker took over the command, which ran on';

/** When a process, or null for any, last wrote into the run's history before a time. */
function lastSign(
  { events }: Run,
  before: number,
  process: string | null,
): { at: number; process: string } | undefined {
  return events
    .flatMap((event) => {
      const { workflowTaskCompletedEventAttributes: task, activityTaskStartedEventAttributes: activity } =
        event;
      const by = processOf((task ?? activity)?.identity ?? null);
      const at = timeOf(event.eventTime);
      return by !== null && at < before && (process === null || by === process) ? [{ at, process: by }] : [];
    })
    .at(-1);
}

/** One death may be in several histories: it was within all the times that they give. */
export function oneOfEachKill(entries: readonly OwnEntry[]): TimeLineEntry[] {
  const kills = new Map<string, OwnEntry>();
  const kept: OwnEntry[] = [];
  for (const { process, ...own } of entries) {
    const known = process == null ? undefined : kills.get(process);
    if (!known) {
      kept.push(own);
      if (process != null) kills.set(process, own);
      continue;
    }
    const end = (of: OwnEntry): number => Date.parse(of.at) + (of.durationMs ?? 0);
    const at = Math.max(Date.parse(known.at), Date.parse(own.at));
    const until = Math.max(at, Math.min(end(known), end(own)));
    Object.assign(known, { at: iso(at), durationMs: until - at });
  }
  return kept;
}

/** Temporal's identities begin with `pid@machine`. */
const processOf = (identity: string | null): string | null => /^\d+@\S+/.exec(identity ?? '')?.[0] ?? null;

/** Tasks of the workflow itself that its worker took and did not answer. */
export function silentTasks(run: Run, make: ReturnType<typeof entry>): TimeLineEntry[] {
  const began = new Map<number, HistoryEvent>(run.events.map((event) => [Number(event.eventId), event]));
  return run.events.flatMap((event) => {
    const timedOut = event.workflowTaskTimedOutEventAttributes;
    const started = timedOut && began.get(Number(timedOut.startedEventId));
    if (!started) return [];
    const [at, until] = [timeOf(started.eventTime), timeOf(event.eventTime)];
    return [make('silent', { at, until, text: 'A worker took a task and gave no answer' })];
  });
}

/** When the run ended; null while it is open. */
export function endOf({ events }: Run): number | null {
  const last = events.at(-1);
  const isOver =
    last?.workflowExecutionCompletedEventAttributes ??
    last?.workflowExecutionFailedEventAttributes ??
    last?.workflowExecutionTimedOutEventAttributes ??
    last?.workflowExecutionCanceledEventAttributes ??
    last?.workflowExecutionTerminatedEventAttributes ??
    last?.workflowExecutionContinuedAsNewEventAttributes;
  return isOver ? timeOf(last?.eventTime) : null;
}
