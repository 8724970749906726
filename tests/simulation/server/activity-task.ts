// One activity of a run, on the server: its attempts, its time-outs, and what becomes of late and repeated answers.
import { ActivityFailure, CancelledFailure, TimeoutFailure } from '@temporalio/common';
import type { Agenda, TakeBack } from './agenda';
import {
  failureOf,
  millisecondsOf,
  payloadsOf,
  valuesOf,
  type Command,
  type Failure,
  type Job,
} from './payloads';

type TimeoutKind = NonNullable<TimeoutFailure['timeoutType']>;
type Schedule = NonNullable<Command['scheduleActivity']>;

/** The server no longer knows the activity, or its caller wants it cancelled. */
export type Beat = 'goes-on' | 'is-cancelled' | 'is-gone';

/** What a worker is given of an activity. */
export interface Attempt {
  token: string;
  workflowId: string;
  runId: string;
  activityId: string;
  type: string;
  args: unknown[];
  number: number;
}

/** The end of an activity as its workflow hears of it. */
export type ActivityEnd =
  { how: 'Completed'; result: unknown; job: Job } | { how: 'Failed' | 'TimedOut' | 'Canceled'; job: Job };

export interface ActivityHome {
  workflowId: string;
  runId: string;
  agenda: Agenda;
  /** Offers an attempt to the workers of a queue. */
  offer: (task: ActivityTask) => void;
  ended: (task: ActivityTask, end: ActivityEnd) => void;
}

const DEFAULT_FIRST_PAUSE_MS = 1_000;

export class ActivityTask {
  readonly type: string;
  readonly queue: string;
  readonly seq: number;
  /** Absent between two attempts, and before the first. */
  attempt: Attempt | undefined;
  isOver = false;
  private isCancelled = false;
  private number = 0;
  private readonly timers = new Map<string, TakeBack>();
  /** Of the last heartbeat that had any. */
  private details: unknown;
  private lastFailure: Failure | undefined;

  constructor(
    private readonly schedule: Schedule,
    private readonly home: ActivityHome,
  ) {
    this.type = schedule.activityType ?? '';
    this.queue = schedule.taskQueue ?? '';
    this.seq = schedule.seq ?? 0;
    this.expire('SCHEDULE_TO_CLOSE', schedule.scheduleToCloseTimeout);
    this.offer();
  }

  get name(): string {
    return `${this.type} of ${this.home.workflowId}`;
  }

  /** A worker takes it. */
  start(): Attempt {
    this.takeBack('SCHEDULE_TO_START');
    this.number += 1;
    const { workflowId, runId } = this.home;
    const activityId = this.schedule.activityId ?? '';
    this.attempt = {
      token: `${runId} ${activityId} ${this.number}`,
      ...{ workflowId, runId, activityId, type: this.type, number: this.number },
      args: valuesOf(this.schedule.arguments),
    };
    this.expire('START_TO_CLOSE', this.schedule.startToCloseTimeout);
    this.beat();
    return this.attempt;
  }

  /** Of the attempt with this token; another one is over. */
  heartbeat(token: string, details?: unknown): Beat {
    if (this.isOver || this.attempt?.token !== token) return 'is-gone';
    if (details !== undefined) this.details = details;
    this.beat();
    return this.isCancelled ? 'is-cancelled' : 'goes-on';
  }

  /** False if nobody waits for it any more. */
  complete(token: string, result: unknown): boolean {
    if (this.isOver || this.attempt?.token !== token) return false;
    const [payload] = result === undefined ? [] : payloadsOf([result]);
    this.end({ how: 'Completed', result, job: this.job({ completed: payload ? { result: payload } : {} }) });
    return true;
  }

  fail(token: string, err: unknown): boolean {
    if (this.isOver || this.attempt?.token !== token) return false;
    this.failed(failureOf(err));
    return true;
  }

  /** A worker reports that it gave up, since the server had asked for that. */
  reportCancelled(token: string): boolean {
    if (this.isOver || this.attempt?.token !== token || !this.isCancelled) return false;
    this.endCancelled();
    return true;
  }

  /** The workflow asks for it. */
  cancel(): void {
    this.isCancelled = true;
    if (!this.attempt && !this.isOver) this.endCancelled();
  }

  /** Its run is over. */
  drop(): void {
    this.isOver = true;
    for (const takeBack of this.timers.values()) takeBack();
    this.timers.clear();
  }

  private offer(): void {
    this.attempt = undefined;
    this.expire('SCHEDULE_TO_START', this.schedule.scheduleToStartTimeout);
    this.home.offer(this);
  }

  private beat(): void {
    this.expire('HEARTBEAT', this.schedule.heartbeatTimeout);
  }

  private expire(kind: TimeoutKind, limit: Schedule['heartbeatTimeout']): void {
    this.takeBack(kind);
    const ms = millisecondsOf(limit);
    if (ms === undefined) return;
    const label = `${this.name}: ${kind.toLowerCase().replaceAll('_', ' ')} time-out`;
    this.timers.set(
      kind,
      this.home.agenda.after(ms, label, () => this.expired(kind)),
    );
  }

  private takeBack(kind: TimeoutKind): void {
    this.timers.get(kind)?.();
    this.timers.delete(kind);
  }

  private expired(kind: TimeoutKind): void {
    const timeout = failureOf(new TimeoutFailure(`activity ${kind} timeout`, this.details, kind));
    const failure = { ...timeout, ...(this.lastFailure && { cause: this.lastFailure }) };
    // Another attempt may come after a silent one, but not after a limit for all of them.
    const isFinal = kind === 'SCHEDULE_TO_START' || kind === 'SCHEDULE_TO_CLOSE';
    if (isFinal) this.end({ how: 'TimedOut', job: this.jobOfFailure(failure, 'TIMEOUT') });
    else this.failed(failure, 'TimedOut');
  }

  private failed(failure: Failure, how: 'Failed' | 'TimedOut' = 'Failed'): void {
    this.lastFailure = failure;
    this.takeBack('HEARTBEAT');
    this.takeBack('START_TO_CLOSE');
    const { maximumAttempts, initialInterval, maximumInterval } = this.schedule.retryPolicy ?? {};
    const isLast = maximumAttempts ? this.number >= maximumAttempts : false;
    const mayRetry = !failure.applicationFailureInfo?.nonRetryable;
    if (isLast || !mayRetry || this.isCancelled) {
      if (this.isCancelled && !isLast && mayRetry) return this.endCancelled();
      const state = isLast ? 'MAXIMUM_ATTEMPTS_REACHED' : 'NON_RETRYABLE_FAILURE';
      return this.end({ how, job: this.jobOfFailure(failure, state) });
    }
    this.attempt = undefined;
    const first = millisecondsOf(initialInterval) ?? DEFAULT_FIRST_PAUSE_MS;
    const longest = millisecondsOf(maximumInterval) ?? 100 * first;
    const pauseMs = Math.min(longest, first * 2 ** (this.number - 1));
    this.timers.set(
      'retry',
      this.home.agenda.after(pauseMs, `${this.name}: next attempt`, () => this.offer()),
    );
  }

  private jobOfFailure(cause: Failure, retryState: ActivityFailure['retryState']): Job {
    const { activityId = '' } = this.schedule;
    const failure = new ActivityFailure(
      'Activity task failed',
      this.type,
      activityId ?? '',
      retryState,
      undefined,
    );
    return this.job({ failed: { failure: { ...failureOf(failure), cause } } });
  }

  private endCancelled(): void {
    this.end({
      how: 'Canceled',
      job: this.job({ cancelled: { failure: failureOf(new CancelledFailure('cancelled')) } }),
    });
  }

  private job(result: NonNullable<Job['resolveActivity']>['result']): Job {
    return { resolveActivity: { seq: this.seq, result } };
  }

  private end(end: ActivityEnd): void {
    this.drop();
    this.home.ended(this, end);
  }
}
