// One run in the memory of one worker: what Temporal's core does around the SDK's workflow runtime. It makes activations of
// events, and knows which commands cancel each other within a task, and which cancellations are answered at once.
import type { Workflow } from '@temporalio/worker/lib/workflow/interface';
import { CancelledFailure } from '@temporalio/common';
import type { HistoryEvent, Seen } from '../server/history';
import {
  failureOf,
  longOf,
  payloadsOf,
  textOf,
  timestampOf,
  type Command,
  type Completion,
  type Job,
} from '../server/payloads';
import type { WorkflowCode, RunFacts } from './workflow-code';

/** One workflow task: what is new since the last one. */
export interface Task {
  events: readonly HistoryEvent[];
  updates: readonly Job[];
  /** Ids of patches that this task has recorded before; of a replay. */
  patches: readonly string[];
  seen: Seen;
  at: number;
  isReplaying: boolean;
}

/** The workflow failed a task: its code threw, or a replay asked for other commands. */
export class TaskFailure extends Error {}

/** The numbers of the protocol. */
const WAITS_FOR_CANCELLATION = 1;
const ABANDONS = 2;
const CHILD_ABANDONS = 0;
const CHILD_WAITS = 2;

export class Replica {
  /** What was answered at once, so that later events of it are news to nobody. */
  private readonly resolved = new Set<string>();
  private readonly cancellationTypes = new Map<number, number>();
  private readonly childTypes = new Map<number, number>();
  private readonly knownPatches = new Set<string>();

  private constructor(
    private readonly runId: string,
    private readonly vm: Workflow,
  ) {}

  static async create(code: WorkflowCode, facts: RunFacts): Promise<Replica> {
    return new Replica(facts.runId, await code.create(facts));
  }

  /** Returns the commands of the whole task. Throws a `TaskFailure`. */
  async run(task: Task): Promise<Command[]> {
    const commands = new TaskCommands();
    const patches = task.patches.filter((patchId) => !this.knownPatches.has(patchId));
    for (const patchId of patches) this.knownPatches.add(patchId);
    const asJobs = patches.map((patchId): Job => ({ notifyHasPatch: { patchId } }));
    for (let jobs = [...asJobs, ...inOrder(this.news(task))]; ;) {
      if (jobs.length > 0 || commands.isEmpty) {
        const completion = await this.activate(task, jobs);
        await this.vm.getAndResetSinkCalls();
        jobs = this.take(commandsOf(completion), commands);
      }
      if (jobs.length === 0) return commands.all;
    }
  }

  /** The answer of a query, or its failure. */
  async query(name: string, request: unknown, task: Pick<Task, 'seen' | 'at'>): Promise<Command> {
    const completion = await this.activate({ ...task, isReplaying: true }, [queryJob(name, request)]);
    await this.vm.getAndResetSinkCalls();
    const [answer] = commandsOf(completion);
    if (!answer) throw new TaskFailure(`the query ${name} was not answered`);
    return answer;
  }

  dispose(): Promise<void> {
    return this.vm.dispose();
  }

  private news({ events, updates }: Task): Job[] {
    const jobs = events.flatMap(({ job }) => job ?? []);
    return [...jobs, ...updates].filter((job) => !this.resolved.has(keyOf(job)));
  }

  private async activate(
    { seen, at, isReplaying }: Pick<Task, 'seen' | 'at' | 'isReplaying'>,
    jobs: Job[],
  ): Promise<Completion> {
    const { historyLength, historyBytes, continueAsNewSuggested } = seen;
    return this.vm.activate({
      ...{ runId: this.runId, jobs, isReplaying, historyLength, continueAsNewSuggested },
      timestamp: timestampOf(at),
      historySizeBytes: longOf(historyBytes),
      availableInternalFlags: FLAGS,
    });
  }

  /** Adds commands to those of the task. Returns what core answers at once. */
  private take(fresh: readonly Command[], all: TaskCommands): Job[] {
    const answers: Job[] = [];
    for (const command of fresh) {
      const { scheduleActivity, requestCancelActivity, cancelTimer } = command;
      const { startChildWorkflowExecution, cancelChildWorkflowExecution, cancelSignalWorkflow } = command;
      if (scheduleActivity)
        this.cancellationTypes.set(scheduleActivity.seq ?? 0, scheduleActivity.cancellationType ?? 0);
      if (startChildWorkflowExecution)
        this.childTypes.set(
          startChildWorkflowExecution.seq ?? 0,
          startChildWorkflowExecution.cancellationType ?? CHILD_WAITS,
        );
      if (requestCancelActivity) answers.push(...this.cancelActivity(command, all));
      else if (cancelTimer) {
        if (!all.dropped('startTimer', cancelTimer.seq)) all.add(command);
      } else if (cancelChildWorkflowExecution) answers.push(...this.cancelChild(command, all));
      else if (cancelSignalWorkflow) answers.push(...cancelSignal(command, all));
      else all.add(command);
    }
    return answers.filter((job) => !this.resolved.has(keyOf(job))).map((job) => this.remember(job));
  }

  private remember(job: Job): Job {
    this.resolved.add(keyOf(job));
    return job;
  }

  private cancelActivity(command: Command, all: TaskCommands): Job[] {
    const seq = command.requestCancelActivity?.seq ?? 0;
    if (this.resolved.has(`resolveActivity ${seq}`)) return [];
    const cancelled: Job = { resolveActivity: { seq, result: { cancelled: { failure: CANCELLED } } } };
    if (all.dropped('scheduleActivity', seq)) return [cancelled];
    const type = this.cancellationTypes.get(seq);
    if (type !== ABANDONS) all.add(command);
    return type === WAITS_FOR_CANCELLATION ? [] : [cancelled];
  }

  private cancelChild(command: Command, all: TaskCommands): Job[] {
    const seq = command.cancelChildWorkflowExecution?.childWorkflowSeq ?? 0;
    if (this.resolved.has(`resolveChildWorkflowExecution ${seq}`)) return [];
    const failure = CANCELLED;
    if (all.dropped('startChildWorkflowExecution', seq))
      return [{ resolveChildWorkflowExecutionStart: { seq, cancelled: { failure } } }];
    const type = this.childTypes.get(seq);
    if (type !== CHILD_ABANDONS) all.add(command);
    const resolves = type !== CHILD_WAITS && type !== 3;
    return resolves ? [{ resolveChildWorkflowExecution: { seq, result: { cancelled: { failure } } } }] : [];
  }
}

function cancelSignal({ cancelSignalWorkflow }: Command, all: TaskCommands): Job[] {
  const seq = cancelSignalWorkflow?.seq ?? 0;
  if (!all.dropped('signalExternalWorkflowExecution', seq)) return [];
  return [{ resolveSignalExternalWorkflow: { seq, failure: CANCELLED } }];
}

/** The commands of one task, without those that it took back itself. */
class TaskCommands {
  private list: Command[] = [];

  get isEmpty(): boolean {
    return this.list.length === 0;
  }

  /** The one that ends the run comes last, whatever the order in which the workflow made them. */
  get all(): Command[] {
    const ends = this.list.filter(isEnd);
    return [...this.list.filter((command) => !isEnd(command)), ...ends.slice(0, 1)];
  }

  add(command: Command): void {
    this.list.push(command);
  }

  /** True if this task made it: then it is as if it had not. */
  dropped(
    kind:
      'startTimer' | 'scheduleActivity' | 'startChildWorkflowExecution' | 'signalExternalWorkflowExecution',
    seq: number | null | undefined,
  ): boolean {
    const kept = this.list.filter((command) => command[kind]?.seq !== seq || !command[kind]);
    const isDropped = kept.length < this.list.length;
    this.list = kept;
    return isDropped;
  }
}

export const isEnd = (command: Command): boolean =>
  Boolean(
    command.completeWorkflowExecution ??
    command.failWorkflowExecution ??
    command.cancelWorkflowExecution ??
    command.continueAsNewWorkflowExecution,
  );

/** Flags of the SDK that a history of today has. */
const FLAGS = [1, 2, 3, 4, 5, 6];
const CANCELLED = failureOf(new CancelledFailure('it was cancelled'));

/** Names what a job answers, so that it is answered once. */
const keyOf = (job: Job): string => {
  const [name = ''] = Object.keys(job);
  const { seq } = (job as Record<string, { seq?: number }>)[name] ?? {};
  return seq === undefined ? textOf(job) : `${name} ${seq}`;
};

/** As core sorts them: what a workflow is told of before what it waits for. */
function inOrder(jobs: readonly Job[]): Job[] {
  const rank = ({ initializeWorkflow, updateRandomSeed, signalWorkflow, doUpdate }: Job): number => {
    if (initializeWorkflow) return 0;
    if (updateRandomSeed) return 1;
    return (signalWorkflow ?? doUpdate) ? 2 : 3;
  };
  return jobs.toSorted((a, b) => rank(a) - rank(b));
}

function commandsOf(completion: Completion): Command[] {
  const { failed, successful } = completion;
  if (failed) throw new TaskFailure(failed.failure?.message ?? 'its code failed');
  return successful?.commands ?? [];
}

const queryJob = (name: string, request: unknown): Job => ({
  variant: 'queryWorkflow',
  queryWorkflow: {
    queryId: 'query',
    queryType: name,
    arguments: payloadsOf(request === undefined ? [] : [request]),
    headers: {},
  },
});
