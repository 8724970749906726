// A world: a server, two workflow workers, a host, and the clients of one agent, all in one order that picks determine.
import type { AgentState } from '../../../contracts/agents/agent';
import type { SessionState } from '../../../contracts/sessions/session';
import { headersWith } from '../../../contracts/telemetry/trace';
import { webhookWorkflowId } from '../../../contracts/webhooks';
import { Agenda } from '../server/agenda';
import type { ActivityTask } from '../server/activity-task';
import { SimulatedServer } from '../server/server';
import type { Run } from '../server/run';
import { WorkflowWorkers } from '../worker/workflow-worker';
import type { WorkflowCode } from '../worker/workflow-code';
import { ActivityWorker } from './activity-worker';
import { AgentActivities } from './agent-activities';
import { Clients } from './client';
import { Facts, type Fact } from './facts';
import { ModelHost } from './host';
import { SideActivities } from './side-activities';
import { Workspaces } from './workspaces';

export interface WorldOptions {
  code: WorkflowCode;
  /** How many events of a real history each event stands for. */
  weight: number;
  /** From so many events on, runs are asked to continue as new. */
  suggestAt: number;
  /** Whether clients send the context of a trace. */
  isTraced: boolean;
  /** Is told of all that happens. */
  told?: (line: string, at: number) => void;
}

const WORKERS = 2;
/** Longer than every time-out and every approval. */
const REST_MS = 11 * 60_000;
const TRACE = headersWith({}, { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) });
/** As many approvals as can expire one after the other. */
const MOST_RESTS = 60;

export class World {
  readonly agenda: Agenda;
  readonly server: SimulatedServer;
  readonly facts: Facts;
  readonly clients: Clients;
  readonly host: ModelHost;
  readonly workspaces: Workspaces;
  readonly side: SideActivities;
  readonly workers: WorkflowWorkers;
  readonly hostWorker: ActivityWorker;
  readonly agentWorker: ActivityWorker;

  constructor({ code, weight, suggestAt, isTraced, told = () => undefined }: WorldOptions) {
    const agenda = new Agenda((label) => told(label, agenda.nowMs));
    const server = new SimulatedServer({ agenda, weight, suggestAt, headers: isTraced ? TRACE : {} });
    const facts = new Facts((fact) => told(`  = ${lineOf(fact)}`, agenda.nowMs));
    this.agenda = agenda;
    this.server = server;
    this.facts = facts;
    this.clients = new Clients(agenda, server, facts);
    this.host = new ModelHost(agenda, server, facts, this.clients);
    this.workspaces = new Workspaces(facts);
    this.side = new SideActivities(facts, () => agenda.nowMs);
    const failed = (run: Run, why: string): void => facts.add({ is: 'task-failed', of: run.workflowId, why });
    this.workers = new WorkflowWorkers({ agenda, server, code, failed }, WORKERS);
    const beside = new AgentActivities(server, facts, this.clients, this.workspaces);
    this.hostWorker = new ActivityWorker('host.local', agenda, server, (life) => ({
      ...this.host.activities(life),
      ...this.workspaces.activities(),
      ...this.side.hostActivities(),
      invokeTool: beside.activities().invokeTool ?? missing,
    }));
    this.agentWorker = new ActivityWorker('holdfast', agenda, server, () => ({
      ...beside.activities(),
      ...this.side.activities(),
    }));
    this.hostWorker.start();
    this.agentWorker.start();
    server.accepted = (of, { id, args }) => {
      const [content] = args as [{ id?: string }?];
      facts.add({ is: 'accepted', of, id: content?.id ?? id });
    };
    server.pollers = { takeTask: (run) => this.workers.offer(run), takeActivity: (task) => this.offer(task) };
  }

  private offer(task: ActivityTask): void {
    const worker = [this.hostWorker, this.agentWorker].find(({ queue }) => queue === task.queue);
    // A queue that nobody serves: what is asked of it expires.
    worker?.offer(task);
  }

  /** All faults are over, programs that run for ever are ended, and everything that may happen does. */
  async settle(): Promise<void> {
    this.clients.answersToLose = 0;
    this.side.receiver = 'fine';
    // One that had said that it is gone has to take a test.
    this.clients.signal(webhookWorkflowId('w'), 'test', { id: 'the last test' });
    this.side.living.clear();
    this.hostWorker.start();
    this.agentWorker.start();
    while (this.workers.count < WORKERS) this.workers.start();
    for (let times = 0; times < MOST_RESTS; times++) {
      await this.agenda.settle(REST_MS);
      this.host.endPrograms();
    }
  }

  /** The latest run of each workflow of a type that has not ended. */
  open(type: 'execSession' | 'agent' | 'turn'): Run[] {
    return [...this.server.workflows.values()]
      .flatMap((runs) => runs.at(-1) ?? [])
      .filter(({ isOpen, start }) => isOpen && start.workflowType === type);
  }

  stateOf(session: Run): Promise<SessionState | undefined> {
    return this.workers.query<SessionState>(session, 'state');
  }

  stateOfAgent(agent: Run): Promise<AgentState | undefined> {
    return this.workers.query<AgentState>(agent, 'state');
  }

  async end(): Promise<void> {
    await this.workers.end();
  }
}

const missing = (): never => {
  throw new Error('there is no such activity');
};

/** A fact as one line of a story. */
export function lineOf(fact: Fact): string {
  const { is, ...rest } = fact;
  const parts = Object.entries(rest).map(([name, value]) => `${name} ${shown(value)}`);
  return `${is}: ${parts.join(', ')}`;
}

const SHOWN = 160;
function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text === undefined ? '' : text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
