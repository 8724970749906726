// The workflow workers of a world: they take tasks, keep runs in memory, and replay the histories of those that they do not
// have. What a replay asks for must be what was recorded.
import type { Agenda, Life } from '../server/agenda';
import { textOf, valueOf, type Command, type Failure } from '../server/payloads';
import type { HistoryEvent } from '../server/history';
import type { Run, StartedTask } from '../server/run';
import type { SimulatedServer } from '../server/server';
import type { Update } from '../server/update';
import { Replica, TaskFailure } from './replica';
import type { WorkflowCode } from './workflow-code';

export interface WorkersOptions {
  agenda: Agenda;
  server: SimulatedServer;
  code: WorkflowCode;
  /** Called if code fails a task, or a replay differs. */
  failed: (run: Run, why: string) => void;
}

class Worker implements Life {
  isOver = false;
  readonly replicas = new Map<string, Replica>();
}

export class WorkflowWorkers {
  private workers: Worker[];
  /** Runs whose tasks wait for a worker. */
  private waiting: Run[] = [];
  /** Which worker has a run in memory. */
  private readonly sticky = new Map<string, Worker>();
  /** Tasks whose answers are on their way. */
  private readonly unanswered = new Map<string, StartedTask>();
  private next = 0;

  constructor(
    private readonly options: WorkersOptions,
    count: number,
  ) {
    this.workers = Array.from({ length: count }, () => new Worker());
  }

  get count(): number {
    return this.workers.length;
  }

  offer(run: Run): void {
    this.options.agenda.add(`task of ${run.workflowId}`, () => this.take(run));
  }

  /** A run leaves the memory of its worker: its next task replays it. */
  async evict(run: Run): Promise<void> {
    const worker = this.sticky.get(run.runId);
    this.sticky.delete(run.runId);
    const replica = worker?.replicas.get(run.runId);
    worker?.replicas.delete(run.runId);
    await replica?.dispose();
  }

  /** One dies. What it had taken is lost. */
  async kill(which: number): Promise<void> {
    const [worker] = this.workers.splice(which % Math.max(1, this.workers.length), 1);
    if (!worker) return;
    worker.isOver = true;
    for (const [runId, replica] of worker.replicas) {
      this.sticky.delete(runId);
      await replica.dispose();
    }
  }

  start(): void {
    this.workers.push(new Worker());
    const { waiting } = this;
    this.waiting = [];
    for (const run of waiting) this.offer(run);
  }

  /** What a query answers. Undefined if there is no worker, or the run was never begun. */
  async query<T>(run: Run, name: string, request?: unknown): Promise<T | undefined> {
    const last = run.history.findLast(({ answered }) => answered);
    const worker = this.sticky.get(run.runId) ?? this.workers[0];
    if (!worker || !last || run.taskState === 'started') return undefined;
    if (this.unanswered.delete(run.runId)) await this.evict(run);
    const replica = await this.remembered(run, worker);
    const seen = run.history.findLast((event) => event.seen && event.id < last.id)?.seen;
    if (!replica || !seen) return undefined;
    const { respondToQuery } = await replica.query(name, request, { seen, at: last.at });
    const failure = respondToQuery?.failed as Failure | undefined;
    if (failure) throw new TaskFailure(`the query ${name} failed: ${failure.message}`);
    return valueOf<T>(respondToQuery?.succeeded?.response);
  }

  async end(): Promise<void> {
    while (this.workers.length > 0) await this.kill(0);
  }

  private async take(run: Run): Promise<void> {
    if (!run.isOpen || run.taskState !== 'scheduled') return;
    const worker = this.workerFor(run);
    if (!worker) {
      this.waiting.push(run);
      return;
    }
    const { agenda, server } = this.options;
    // The answer to the task before it came too late, or will: what the worker has in memory is ahead of the history.
    if (this.unanswered.delete(run.runId)) await this.evict(run);
    const task = run.startTask();
    this.unanswered.set(run.runId, task);
    const commands = await this.work(run, worker, task);
    agenda.add(
      commands ? `answer to the task of ${run.workflowId}` : `failure of the task of ${run.workflowId}`,
      async () => {
        if (this.unanswered.get(run.runId) !== task || run.taskState !== 'started') return;
        this.unanswered.delete(run.runId);
        if (commands && server.answerTask(run, task, commands)) {
          if (!run.isOpen) await this.evict(run);
          return;
        }
        if (!commands) server.failTask(run);
        await this.evict(run);
      },
      worker,
    );
  }

  private workerFor(run: Run): Worker | undefined {
    const known = this.sticky.get(run.runId);
    if (known && !known.isOver) return known;
    this.next += 1;
    return this.workers[this.next % Math.max(1, this.workers.length)];
  }

  private async work(run: Run, worker: Worker, task: StartedTask): Promise<Command[] | undefined> {
    try {
      const replica = await this.replicaOf(run, worker, task);
      const updates = task.updates.map((update: Update) => update.job(true));
      return await replica.run({ ...task, updates, patches: [], isReplaying: false });
    } catch (err) {
      if (!(err instanceof TaskFailure)) throw err;
      this.options.failed(run, err.message);
      return undefined;
    }
  }

  private async remembered(run: Run, worker: Worker): Promise<Replica | undefined> {
    try {
      return await this.replicaOf(run, worker);
    } catch (err) {
      if (!(err instanceof TaskFailure)) throw err;
      this.options.failed(run, err.message);
      return undefined;
    }
  }

  private async replicaOf(run: Run, worker: Worker, task?: StartedTask): Promise<Replica> {
    const known = worker.replicas.get(run.runId);
    if (known) return known;
    const firstTask = run.history.find(({ seen }) => seen)?.at;
    const runStartedAt = firstTask ?? task?.at ?? run.start.runStartedAt;
    const replica = await Replica.create(this.options.code, { ...run.start, runStartedAt });
    worker.replicas.set(run.runId, replica);
    this.sticky.set(run.runId, worker);
    await this.replay(run, replica);
    return replica;
  }

  /** Up to the last task that was answered. Throws a `TaskFailure` if it asks for other commands. */
  private async replay(run: Run, replica: Replica): Promise<void> {
    let events: HistoryEvent[] = [];
    let started: HistoryEvent | undefined;
    for (const event of run.history) {
      if (event.seen) started = event;
      events.push(event);
      if (!event.answered || !started?.seen) continue;
      const { updates, commands } = event.answered;
      const before = (one: HistoryEvent): boolean => one.id <= (started?.id ?? 0);
      const task = { events: events.filter(before), updates, seen: started.seen, at: started.at };
      const patches = commands.flatMap(({ setPatchMarker }) => setPatchMarker?.patchId ?? []);
      const again = await replica.run({ ...task, patches, isReplaying: true });
      const differs = differenceOf(withoutPatches(commands), withoutPatches(again));
      if (differs !== undefined) throw new TaskFailure(`a replay differs: ${differs}`);
      events = events.filter((one) => !before(one));
    }
  }
}

const withoutPatches = (commands: readonly Command[]): Command[] =>
  commands.filter(({ setPatchMarker }) => !setPatchMarker);

/** Undefined if both are the same in every detail. Temporal itself looks only at some. */
function differenceOf(recorded: readonly Command[], again: readonly Command[]): string | undefined {
  const [texts, others] = [recorded.map(textOf), again.map(textOf)];
  const at = texts.findIndex((text, index) => text !== others[index]);
  const place = at >= 0 ? at : texts.length < others.length ? texts.length : -1;
  if (place < 0) return undefined;
  return `recorded ${texts[place] ?? 'nothing'}, asked for ${others[place] ?? 'nothing'}`;
}
