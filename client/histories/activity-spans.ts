// The activities of one run of a workflow: when each began and ended, who worked on it, and how earlier attempts failed.
import { ApplicationFailure, TimeoutFailure } from '@temporalio/common';
import { WORKER_LOST } from '../../contracts/errors/failure';
import { failureOf, firstOf } from './read-payloads';
import { numberOf, timeOf, type HistoryEvent, type Run } from './read-runs';

/** What ended an attempt whose worker gave no answer. */
export type WorkerFate = 'killed' | 'silent';

export interface ActivitySpan {
  id: string;
  type: string;
  /** In milliseconds since 1970, like the other times. */
  scheduledAt: number;
  /** When the last attempt began; null before it is known: the server records it with the end. */
  startedAt: number | null;
  /** Null while it goes on. */
  endedAt: number | null;
  attempt: number;
  /** What became of the worker of the last attempt before this one, or of this one if it failed of that. */
  fate: WorkerFate | null;
  /** Identities of the workers that began and ended it. */
  startedBy: string | null;
  endedBy: string | null;
  failure: Error | undefined;
  wasCancelled: boolean;
  /** Decoded when asked for. */
  input: <T>() => Promise<Partial<T> | undefined>;
  result: <T>() => Promise<Partial<T> | undefined>;
}

/** In the order in which they were scheduled. */
export async function activitySpans(run: Run): Promise<ActivitySpan[]> {
  const spans = new Map<number, ActivitySpan>();
  const of = (attributes: { scheduledEventId?: unknown } | null | undefined): ActivitySpan | undefined =>
    attributes ? spans.get(Number(attributes.scheduledEventId)) : undefined;
  for (const event of run.events) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) spans.set(numberOf(event), newSpan(run, event));
    const started = event.activityTaskStartedEventAttributes;
    const begun = of(started);
    if (begun && started) {
      const { attempt, identity, lastFailure } = started;
      const fate = fateOf(await failureOf(run, lastFailure));
      const startedAt = timeOf(event.eventTime);
      Object.assign(begun, { startedAt, attempt: attempt ?? 1, startedBy: identity ?? null, fate });
    }
    await end(run, event, of);
  }
  await addPending(run, [...spans.values()]);
  return [...spans.values()];
}

function newSpan(run: Run, event: HistoryEvent): ActivitySpan {
  const { activityId, activityType, input } = event.activityTaskScheduledEventAttributes ?? {};
  return {
    id: activityId ?? '',
    type: activityType?.name ?? 'unknown',
    scheduledAt: timeOf(event.eventTime),
    ...{ startedAt: null, endedAt: null, attempt: 1, fate: null, startedBy: null, endedBy: null },
    ...{ failure: undefined, wasCancelled: false },
    input: () => firstOf(run, input?.payloads),
    result: () => Promise.resolve(undefined),
  };
}

async function end(
  run: Run,
  event: HistoryEvent,
  of: (attributes: { scheduledEventId?: unknown } | null | undefined) => ActivitySpan | undefined,
): Promise<void> {
  const completed = event.activityTaskCompletedEventAttributes;
  const failed = event.activityTaskFailedEventAttributes;
  const timedOut = event.activityTaskTimedOutEventAttributes;
  const canceled = event.activityTaskCanceledEventAttributes;
  const span = of(completed ?? failed ?? timedOut ?? canceled);
  if (!span) return;
  span.endedAt = timeOf(event.eventTime);
  span.endedBy = (completed ?? failed ?? canceled)?.identity ?? null;
  span.wasCancelled = Boolean(canceled);
  if (completed) span.result = () => firstOf(run, completed.result?.payloads);
  span.failure = await failureOf(run, failed?.failure ?? timedOut?.failure);
  span.fate = fateOf(span.failure) ?? span.fate;
}

/** Of an open run, the server says more about what is not done than its history. */
async function addPending(run: Run, spans: readonly ActivitySpan[]): Promise<void> {
  const open = new Map(spans.filter(({ endedAt }) => endedAt === null).map((span) => [span.id, span]));
  if (open.size === 0) return;
  const found = await run.client.workflow
    .getHandle(run.workflowId, run.runId)
    .describe()
    .catch(() => undefined);
  for (const activity of found?.raw.pendingActivities ?? []) {
    const span = open.get(activity.activityId ?? '');
    if (!span) continue;
    const { attempt, lastStartedTime, lastFailure, lastWorkerIdentity } = activity;
    span.attempt = attempt ?? 1;
    span.startedAt = lastStartedTime ? timeOf(lastStartedTime) : null;
    span.startedBy = lastWorkerIdentity ?? null;
    span.fate = fateOf(await failureOf(run, lastFailure));
  }
}

function fateOf(failure: Error | undefined): WorkerFate | null {
  if (failure instanceof ApplicationFailure && failure.type === WORKER_LOST) return 'killed';
  if (failure instanceof TimeoutFailure && failure.timeoutType === 'HEARTBEAT') return 'silent';
  return null;
}
