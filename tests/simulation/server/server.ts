// The simulated Temporal server: what clients and workers ask of it, and the runs that it keeps.
import type { ActivityTask, Beat } from './activity-task';
import type { Agenda } from './agenda';
import { leaveChildren } from './children';
import { carryOut } from './commands';
import type { Closing } from './history';
import { payloadsOf, type Command, type Headers, type Job } from './payloads';
import { Run, type Effects, type RunHome, type RunStart, type Start, type StartedTask } from './run';
import type { UpdateOutcome, UpdateRequest } from './update';
import { isEnd } from '../worker/replica';

/** What a caller gets instead of an answer. */
export class Refused extends Error {
  constructor(readonly why: 'not-found' | 'already-running' | 'too-many') {
    super(why);
  }
}

/** Workers, as the server sees them. */
export interface Pollers {
  takeTask: (run: Run) => void;
  takeActivity: (task: ActivityTask) => void;
}

export interface ServerOptions {
  agenda: Agenda;
  /** How many events of a real history each event stands for. */
  weight: number;
  /** From so many events on, it suggests to continue as new. */
  suggestAt: number;
  /** What clients send with all that they ask. */
  headers?: Headers;
}

export class SimulatedServer implements Effects {
  /** All runs of each workflow, oldest first. */
  readonly workflows = new Map<string, Run[]>();
  private readonly home: RunHome;
  private readonly runsById = new Map<string, Run>();
  private runs = 0;
  pollers: Pollers | undefined;
  /** Is told which workflow accepted which update. */
  accepted: (workflowId: string, update: UpdateRequest) => void = () => undefined;

  constructor(private readonly options: ServerOptions) {
    this.home = {
      ...options,
      offerTask: (run) => this.pollers?.takeTask(run),
      offerActivity: (task) => this.pollers?.takeActivity(task),
    };
  }

  private get headers(): Headers {
    return this.options.headers ?? {};
  }

  get allRuns(): Run[] {
    return [...this.workflows.values()].flat();
  }

  latest(workflowId: string): Run | undefined {
    return this.workflows.get(workflowId)?.at(-1);
  }

  open(workflowId: string): Run | undefined {
    const run = this.latest(workflowId);
    return run?.isOpen ? run : undefined;
  }

  /** Undefined if one of this id is running. */
  begin(start: Start): Run | undefined {
    if (this.open(start.workflowId)) return undefined;
    const runId = this.nextRunId(start.workflowId);
    const now = this.options.agenda.nowMs;
    return this.keep({
      ...{ attributes: {}, memo: {}, headers: {}, parent: undefined, ...start },
      ...{ runId, firstRunId: runId, continuedFrom: undefined, startedAt: now, runStartedAt: now },
    });
  }

  /** Of a client. Throws `Refused` if it is running, unless that is fine. */
  start(workflowId: string, workflowType: string, args: readonly unknown[], useExisting = false): Run {
    const begun = this.begin({ workflowId, workflowType, args: payloadsOf(args), headers: this.headers });
    const known = useExisting ? this.open(workflowId) : undefined;
    const run = begun ?? known;
    if (!run) throw new Refused('already-running');
    return run;
  }

  signal(workflowId: string, name: string, args: readonly unknown[] = []): void {
    if (!this.signalRaw(workflowId, { signalName: name, input: payloadsOf(args), headers: this.headers }))
      throw new Refused('not-found');
  }

  signalIfOpen(workflowId: string, name: string, value: unknown): boolean {
    const { headers } = this;
    return this.signalRaw(workflowId, { signalName: name, input: payloadsOf([value]), headers });
  }

  /** False if it is not running. */
  signalRaw(workflowId: string, signal: NonNullable<Job['signalWorkflow']>): boolean {
    const run = this.open(workflowId);
    run?.happen('WorkflowExecutionSignaled', { job: { signalWorkflow: { headers: {}, ...signal } } });
    return run !== undefined;
  }

  /** Calls back with the outcome. Throws `Refused`. */
  update(workflowId: string, request: UpdateRequest, answer: (outcome: UpdateOutcome) => void): void {
    const run = this.open(workflowId);
    // An update of a run that has ended has its outcome in that history.
    const done = run ? undefined : this.latest(workflowId)?.updates.get(request.id)?.outcome;
    if (done && (done.is === 'completed' || done.is === 'failed')) return answer(done);
    if (!run) throw new Refused('not-found');
    const update = run.update({ ...request, headers: this.headers });
    if (update === 'too-many') throw new Refused('too-many');
    update.whenOver(answer);
  }

  /** False if there never was one. */
  cancel(workflowId: string): boolean {
    const run = this.latest(workflowId);
    if (run?.isOpen && !run.isCancelRequested) {
      run.isCancelRequested = true;
      run.happen('WorkflowExecutionCancelRequested', { job: { cancelWorkflow: { reason: '' } } });
    }
    return run !== undefined;
  }

  terminate(workflowId: string, reason: string): boolean {
    const run = this.open(workflowId);
    if (run) this.close(run, { how: 'Terminated', reason });
    return run !== undefined;
  }

  /** A worker answered a task. False if nobody waits for that any more, or it was for nothing. */
  answerTask(run: Run, { updates }: StartedTask, commands: Command[]): boolean {
    if (!run.isOpen || run.taskState !== 'started') return false;
    // What came meanwhile has to be seen before the run may end.
    if (commands.some(isEnd) && run.hasBuffered) {
      run.abandonTask('WorkflowTaskFailed');
      return false;
    }
    const accepted = updates.filter(({ request: { id } }) => idsOfAccepted(commands).has(id));
    run.finishTask(recordedOf(run, commands), accepted);
    for (const { request } of accepted) this.accepted(run.workflowId, request);
    carryOut(this, run, commands);
    if (run.isOpen) run.afterTask();
    return true;
  }

  failTask(run: Run): void {
    run.abandonTask('WorkflowTaskFailed');
  }

  /** The run ends; its children and its parent learn of it. */
  close(run: Run, closing: Closing): void {
    run.record(`WorkflowExecution${closing.how}`);
    run.close(closing);
    leaveChildren(this, run);
    if (closing.how !== 'ContinuedAsNew') run.start.tellParent?.(closing);
  }

  continueAsNew(run: Run, args: RunStart['args']): void {
    const { workflowId, start, attributes } = run;
    const runId = this.nextRunId(workflowId);
    this.close(run, { how: 'ContinuedAsNew', next: runId });
    const now = this.options.agenda.nowMs;
    this.keep({
      ...{ ...start, args, runId, continuedFrom: run.runId, runStartedAt: now },
      attributes: { ...attributes },
    });
  }

  heartbeat(token: string, details?: unknown): Beat {
    return this.activity(token)?.heartbeat(token, details) ?? 'is-gone';
  }

  /** False if nobody waits for it any more. */
  completeActivity(token: string, result: unknown): boolean {
    return this.activity(token)?.complete(token, result) ?? false;
  }

  failActivity(token: string, err: unknown): boolean {
    return this.activity(token)?.fail(token, err) ?? false;
  }

  private activity(token: string): ActivityTask | undefined {
    const [runId = ''] = token.split(' ');
    const activities = this.runsById.get(runId)?.activities.values() ?? [];
    return [...activities].find(({ attempt }) => attempt?.token === token);
  }

  private keep(start: RunStart): Run {
    const known = this.workflows.get(start.workflowId) ?? [];
    this.workflows.set(start.workflowId, known);
    const run = new Run(start, this.home);
    known.push(run);
    this.runsById.set(run.runId, run);
    return run;
  }

  private nextRunId(workflowId: string): string {
    this.runs += 1;
    return `${workflowId}#${this.runs}`;
  }
}

const idsOfAccepted = (commands: readonly Command[]): Set<string> =>
  new Set(
    commands.flatMap(({ updateResponse }) =>
      updateResponse?.accepted ? [updateResponse.protocolInstanceId ?? ''] : [],
    ),
  );

/** An update that was rejected before it was accepted leaves no trace, so that a replay does not ask for it. */
function recordedOf(run: Run, commands: readonly Command[]): Command[] {
  const accepted = idsOfAccepted(commands);
  return commands.filter(({ updateResponse }) => {
    const id = updateResponse?.protocolInstanceId ?? '';
    return !updateResponse?.rejected || accepted.has(id) || run.updates.get(id)?.state === 'accepted';
  });
}
