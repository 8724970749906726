// Workers of activities: one life of a process that serves a task queue. What it does for an attempt is given; what it had
// begun when it dies is lost, and the next one says so.
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { toFailure, workerLost } from '../../../contracts/errors/failure';
import type { ActivityTask, Attempt } from '../server/activity-task';
import type { Agenda, Life } from '../server/agenda';
import type { SimulatedServer } from '../server/server';

/** One attempt at work. */
export interface Work {
  attempt: Attempt;
  life: Life;
  /** The next thing that it does, at some time. What it throws fails the attempt. */
  then: (label: string, work: () => void) => void;
  /** The same, not before so much time has passed. */
  later: (ms: number, label: string, work: () => void) => void;
  complete: (result?: unknown) => void;
  /** What its heartbeats say from now on. */
  beat: (details: unknown) => void;
  /** Its end is reported by others, later: it outlives this worker. */
  leave: () => void;
}

export type Activities = Record<string, (work: Work, input: never) => void>;

const HEARTBEAT_MS = 4_000;

export class ActivityWorker {
  private life: { isOver: boolean } | null = null;
  private waiting: ActivityTask[] = [];
  /** Tokens of attempts that were begun and neither ended nor left. */
  private readonly begun = new Set<string>();

  constructor(
    readonly queue: string,
    private readonly agenda: Agenda,
    private readonly server: SimulatedServer,
    /** Made anew for each life: what is in memory dies with it. */
    private readonly activities: (life: Life) => Activities,
  ) {}

  private current: Activities = {};

  get isAway(): boolean {
    return this.life === null;
  }

  start(): void {
    if (this.life) return;
    const life = { isOver: false };
    this.life = life;
    this.current = this.activities(life);
    for (const token of this.begun)
      this.agenda.add(
        `${this.queue} reports what its last worker had begun`,
        () => {
          this.server.failActivity(token, workerLost());
        },
        life,
      );
    this.begun.clear();
    const { waiting } = this;
    this.waiting = [];
    for (const task of waiting) this.offer(task);
  }

  kill(): void {
    if (this.life) this.life.isOver = true;
    this.life = null;
  }

  offer(task: ActivityTask): void {
    this.agenda.add(`${this.queue} takes ${task.name}`, () => {
      if (task.isOver || task.attempt) return;
      if (this.life) this.run(task, this.life);
      else this.waiting.push(task);
    });
  }

  private run(task: ActivityTask, life: Life): void {
    const attempt = task.start();
    const { token, type } = attempt;
    const activity = this.current[type];
    if (!activity) throw new Error(`the simulated worker of ${this.queue} has no activity ${type}`);
    this.begun.add(token);
    let isOver = false;
    let details: unknown;
    const end = (report: () => void): void => {
      isOver = true;
      this.begun.delete(token);
      this.agenda.add(`${this.queue} reports ${task.name}`, report, life);
    };
    const attempted = (step: () => void): void => {
      try {
        within(attempt, step);
      } catch (err) {
        if (!(err instanceof HoldfastError)) throw err;
        end(() => this.server.failActivity(token, toFailure(err)));
      }
    };
    const beat = (): void => {
      if (isOver || this.server.heartbeat(token, details) === 'is-gone') return;
      this.agenda.after(HEARTBEAT_MS, `${task.name} beats`, beat, life);
    };
    const work: Work = {
      ...{ attempt, life },
      then: (label, step) => this.agenda.add(label, () => attempted(step), life),
      later: (ms, label, step) => void this.agenda.after(ms, label, () => attempted(step), life),
      beat: (said) => {
        details = said;
        this.server.heartbeat(token, said);
      },
      complete: (result) => end(() => this.server.completeActivity(token, result)),
      leave: () => {
        isOver = true;
        this.begun.delete(token);
      },
    };
    beat();
    attempted(() => activity(work, attempt.args[0] as never));
  }
}

/** The real code of activities asks where it runs. */
function within(attempt: Attempt, step: () => void): void {
  const { workflowId, runId, number } = attempt;
  const info = { workflowExecution: { workflowId, runId }, attempt: number };
  asyncLocalStorage.run({ info } as unknown as Context, step);
}
