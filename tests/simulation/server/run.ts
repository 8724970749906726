// One run of a workflow on the server: its history, its tasks, and what it waits for.
import { ActivityTask, type ActivityEnd } from './activity-task';
import type { Agenda, TakeBack } from './agenda';
import type { Closing, EventType, HistoryEvent, Seen } from './history';
import { payloadsOf, type Command, type Headers, type Job } from './payloads';
import { Update, type UpdateOutcome, type UpdateRequest } from './update';
import type { RunFacts } from '../worker/workflow-code';

export type Attributes = NonNullable<
  NonNullable<NonNullable<Job['initializeWorkflow']>['searchAttributes']>['indexedFields']
>;

export interface RunStart extends RunFacts {
  args: NonNullable<NonNullable<Job['initializeWorkflow']>['arguments']>;
  attributes: Attributes;
  memo: Record<string, unknown>;
  headers: Headers;
  /** Tells its parent how it ended. */
  tellParent?: ((closing: Closing) => void) | undefined;
}

/** A child that has not ended. */
export interface Child {
  workflowId: string;
  policy: number;
  /** Null until it has started. */
  runId: string | null;
  /** What waits for its start. */
  afterStart: (() => void)[];
}

/** What commands of a run do beyond it. */
export interface Effects {
  /** Undefined if one of this id is running. */
  begin: (start: Start) => Run | undefined;
  /** The others are false if it is not running. */
  signalRaw: (workflowId: string, signal: NonNullable<Job['signalWorkflow']>) => boolean;
  cancel: (workflowId: string) => boolean;
  terminate: (workflowId: string, reason: string) => boolean;
  close: (run: Run, closing: Closing) => void;
  continueAsNew: (run: Run, args: RunStart['args']) => void;
}

export type Start = Pick<RunStart, 'workflowId' | 'workflowType' | 'args'> &
  Partial<Pick<RunStart, 'attributes' | 'memo' | 'headers' | 'parent' | 'tellParent'>>;

/** What the server does for its runs. */
export interface RunHome {
  agenda: Agenda;
  /** Offers a task of the run to the workers. */
  offerTask: (run: Run) => void;
  offerActivity: (task: ActivityTask) => void;
  /** How many events a real history would have for each of these. */
  weight: number;
  /** From so many events on, the server suggests to continue as new. */
  suggestAt: number;
}

/** What a worker gets. */
export interface StartedTask {
  events: HistoryEvent[];
  updates: Update[];
  seen: Seen;
  at: number;
}

const TASK_TIMEOUT_MS = 10_000;
const BYTES_OF_EVENT = 300;
/** Temporal takes so many updates at once. */
const UPDATES_AT_ONCE = 10;

type Fresh = Partial<Pick<HistoryEvent, 'job' | 'answered' | 'seen'>>;

export class Run {
  history: HistoryEvent[] = [];
  closing: Closing | undefined;
  attributes: Attributes;
  readonly activities = new Map<number, ActivityTask>();
  readonly timers = new Map<number, TakeBack>();
  readonly updates = new Map<string, Update>();
  /** Children that have not ended, by the number of their command. */
  readonly children = new Map<number, Child>();
  taskState: 'none' | 'scheduled' | 'started' = 'none';
  isCancelRequested = false;
  /** Events that came during a task: they follow its end. */
  private buffered: { type: EventType; fresh: Fresh; seq?: number | undefined }[] = [];
  private timeout: TakeBack | undefined;
  /** Before the task: a task that brings updates alone, and to which nothing comes of it, leaves no trace. */
  private before: HistoryEvent[] | null = null;
  /** How many tasks have failed or were lost in a row. */
  failedTasks = 0;
  tasks = 0;

  constructor(
    readonly start: RunStart,
    readonly home: RunHome,
  ) {
    this.attributes = { ...start.attributes };
    this.record('WorkflowExecutionStarted', { job: { initializeWorkflow: this.initialize() } });
    this.wake();
  }

  get workflowId(): string {
    return this.start.workflowId;
  }
  get runId(): string {
    return this.start.runId;
  }
  get isOpen(): boolean {
    return this.closing === undefined;
  }
  get hasBuffered(): boolean {
    return this.buffered.length > 0;
  }

  /** An event from outside. */
  happen(type: EventType, fresh: Fresh = {}, seq?: number): void {
    if (!this.isOpen) return;
    if (this.taskState === 'started') {
      this.buffered.push({ type, fresh, seq });
      return;
    }
    this.before = null;
    this.record(type, fresh);
    this.wake();
  }

  record(type: EventType, fresh: Fresh = {}): void {
    this.history.push({ id: this.history.length + 1, type, at: this.home.agenda.nowMs, ...fresh });
  }

  /** A timer that fired during the task in which the workflow cancels it has not fired. */
  forgetTimer(seq: number): void {
    this.buffered = this.buffered.filter((one) => one.type !== 'TimerFired' || one.seq !== seq);
  }

  update(request: UpdateRequest): Update | 'too-many' {
    const known = this.updates.get(request.id);
    if (known) return known;
    const open = [...this.updates.values()].filter(({ state }) => state !== 'over').length;
    if (open >= UPDATES_AT_ONCE) return 'too-many';
    const update = new Update(request);
    this.updates.set(request.id, update);
    if (this.taskState === 'none') {
      const before = [...this.history];
      this.wake();
      this.before = before;
    }
    return update;
  }

  private wake(): void {
    if (!this.isOpen || this.taskState !== 'none') return;
    this.record('WorkflowTaskScheduled');
    this.taskState = 'scheduled';
    this.home.offerTask(this);
  }

  startTask(): StartedTask {
    this.tasks += 1;
    const { agenda, weight, suggestAt } = this.home;
    const events = this.since();
    const length = this.history.length + 1;
    const seen = {
      historyLength: length * weight,
      historyBytes: length * weight * BYTES_OF_EVENT,
      continueAsNewSuggested: length >= suggestAt,
    };
    this.record('WorkflowTaskStarted', { seen });
    this.taskState = 'started';
    this.timeout = agenda.after(TASK_TIMEOUT_MS, `task of ${this.workflowId}: time-out`, () =>
      this.abandonTask('WorkflowTaskTimedOut'),
    );
    const updates = [...this.updates.values()].filter(
      ({ state }) => state === 'admitted' || state === 'sent',
    );
    for (const update of updates) update.state = 'sent';
    return { events, updates, seen, at: agenda.nowMs };
  }

  /** The worker answered. What it asks for is carried out by the caller, between this and `afterTask`. */
  finishTask(commands: Command[], accepted: Update[]): void {
    this.endTask();
    this.failedTasks = 0;
    if (this.before && commands.length === 0 && accepted.length === 0 && !this.hasBuffered)
      this.history = this.before;
    else {
      const updates = accepted.map((update) => update.job(false));
      this.record('WorkflowTaskCompleted', { answered: { updates, commands } });
    }
    this.before = null;
  }

  afterTask(): void {
    this.flush();
    if ([...this.updates.values()].some(({ state }) => state === 'admitted')) this.wake();
  }

  /** The worker is gone, or failed it: another one gets it. */
  abandonTask(type: 'WorkflowTaskTimedOut' | 'WorkflowTaskFailed'): void {
    if (!this.isOpen || this.taskState !== 'started') return;
    this.endTask();
    this.before = null;
    this.failedTasks += 1;
    this.record(type);
    this.flush();
    this.wake();
  }

  private endTask(): void {
    this.taskState = 'none';
    this.timeout?.();
    this.timeout = undefined;
  }

  private flush(): void {
    const { buffered } = this;
    this.buffered = [];
    for (const { type, fresh } of buffered) this.record(type, fresh);
    if (buffered.length > 0) this.wake();
  }

  schedule(command: NonNullable<Command['scheduleActivity']>): void {
    const { agenda, offerActivity } = this.home;
    this.record('ActivityTaskScheduled');
    const { workflowId, runId } = this;
    const home = { workflowId, runId, agenda, offer: offerActivity, ended: this.activityEnded };
    const task = new ActivityTask(command, home);
    this.activities.set(task.seq, task);
  }

  private activityEnded = (task: ActivityTask, { how, job }: ActivityEnd): void => {
    this.activities.delete(task.seq);
    if (task.attempt) this.happen('ActivityTaskStarted');
    this.happen(`ActivityTask${how}`, { job });
  };

  close(closing: Closing): void {
    this.closing = closing;
    this.endTask();
    this.taskState = 'none';
    for (const task of this.activities.values()) task.drop();
    for (const takeBack of this.timers.values()) takeBack();
    this.activities.clear();
    this.timers.clear();
    for (const update of this.updates.values()) {
      if (update.state === 'over') continue;
      const outcome: UpdateOutcome = { is: update.state === 'accepted' ? 'cut-off' : 'not-taken' };
      update.end(outcome);
    }
  }

  /** Events since the last task that was answered. */
  private since(): HistoryEvent[] {
    const last = this.history.findLastIndex(({ type }) => type === 'WorkflowTaskCompleted');
    if (last < 0) return [...this.history];
    const started = this.history.findLastIndex(({ type }, at) => type === 'WorkflowTaskStarted' && at < last);
    return this.history.slice(started + 1);
  }

  private initialize(): NonNullable<Job['initializeWorkflow']> {
    const { workflowId, workflowType, args, firstRunId, continuedFrom, attributes, memo, headers } =
      this.start;
    const fields = Object.entries(memo).map(([key, value]) => [key, payloadsOf([value])[0]]);
    return {
      ...{ workflowId, workflowType, arguments: args, firstExecutionRunId: firstRunId, attempt: 1 },
      ...(continuedFrom !== undefined && { continuedFromExecutionRunId: continuedFrom }),
      headers,
      searchAttributes: { indexedFields: { ...attributes } },
      memo: { fields: Object.fromEntries(fields) as Record<string, never> },
    };
  }
}
