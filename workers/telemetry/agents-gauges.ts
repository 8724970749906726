// Metrics that have to be looked for at the server: agents, waits, hosts, backlogs. Only the first of the workers of a
// queue looks, for all; the others report zeros, so the largest of all workers' values counts.
import type { MetricMeter } from '@temporalio/common';
import { listWorkflows } from '../../client/delivery/list-workflows';
import type { HostNamespaces } from '../../client/hosts/host-namespaces';
import type { HoldfastClient } from '../../client/holdfast-client';
import { AGENT_STATES, NOTICED_AT_KEY } from '../../contracts/agents/work-state';
import { hostTaskQueue } from '../../contracts/ids';
import { SEARCH_ATTRIBUTES, WORKFLOWS } from '../../contracts/messages';
import type { HostState } from '../../contracts/schemas/remote-hosts';
import { gauge } from '../../contracts/telemetry/metrics';
import { firstOfWorkers } from '../agents/agents-pollers';
import { RepeatedLook } from '../repeated-look';

/** temporal.api.enums.v1.TaskQueueType */
const QUEUE_KINDS = { workflow: 1, activity: 2 } as const;
/** Each is two requests a look, and a label. */
const MAX_QUEUES = 100;
const REASONS = ['approval', 'input', 'person', 'agents', 'quota'] as const;
/** Not published as notices: nothing says since when these last. */
const UNDATED: readonly string[] = ['agents', 'quota'];
/** The oldest wait is looked for among those at least this old, in milliseconds: lists begin with the youngest. */
const AGES_MS = [86_400_000, 3_600_000, 300_000, 0];
const MAX_LISTED = 200;

export interface AgentsGaugesOptions {
  client: HoldfastClient;
  meter: MetricMeter;
  /** With which this worker polls. */
  identity: string;
  retries: () => { calls: number; oldestSeconds: number };
  everyMs: number;
  warn: (message: string, facts: object) => void;
}

export class AgentsGauges {
  readonly looks: RepeatedLook;
  private wasFirst = false;
  /** Queues that were reported, to be reported as empty when they are not looked at any more. */
  private readonly queues = new Set<string>();

  constructor(private readonly options: AgentsGaugesOptions) {
    const failed = (reason: string): void => options.warn('metrics could not be looked up', { reason });
    this.looks = new RepeatedLook(() => this.look(), failed, options.everyMs);
  }

  private async look(): Promise<void> {
    const { client, identity, meter, retries } = this.options;
    const { calls, oldestSeconds } = retries();
    gauge(meter, 'holdfast_model_retries', {}, calls);
    gauge(meter, 'holdfast_model_retry_oldest_seconds', {}, oldestSeconds);
    const isFirst = (await firstOfWorkers(client.temporal, client.server.queue)) === identity;
    if (isFirst) await this.reportAll();
    else if (this.wasFirst) this.reportNothing();
    this.wasFirst = isFirst;
  }

  private async reportAll(): Promise<void> {
    const { client, meter } = this.options;
    const { namespaces } = client;
    for (const state of AGENT_STATES) {
      const query = `${running(WORKFLOWS.agent)} AND ${SEARCH_ATTRIBUTES.state} = "${state}"`;
      gauge(meter, 'holdfast_agents', { state }, await countIn(namespaces, query));
    }
    for (const reason of REASONS) {
      const query = `${running(WORKFLOWS.turn, WORKFLOWS.execSession)} AND ${SEARCH_ATTRIBUTES.waitsFor} = "${reason}"`;
      const waits = await countIn(namespaces, query);
      gauge(meter, 'holdfast_waits', { reason }, waits);
      const since = waits > 0 && !UNDATED.includes(reason) ? await oldestIn(namespaces, query) : undefined;
      gauge(meter, 'holdfast_wait_oldest_seconds', { reason }, secondsSince(since));
    }
    const { hosts, unanswered } = await client.hosts.listAnswering();
    await this.reportHosts(hosts);
    const names = [...hosts.map(({ host }) => host), ...unanswered];
    await this.reportQueues([client.server.queue, ...names.map(hostTaskQueue)]);
  }

  private async reportHosts(hosts: readonly HostState[]): Promise<void> {
    const { meter, client } = this.options;
    const offline = hosts.filter(({ status }) => status === 'offline');
    gauge(meter, 'holdfast_hosts', { status: 'online' }, hosts.length - offline.length);
    gauge(meter, 'holdfast_hosts', { status: 'offline' }, offline.length);
    let [waits, since] = [0, undefined as number | undefined];
    for (const state of offline) {
      const query = `${running(WORKFLOWS.execSession)} AND ${SEARCH_ATTRIBUTES.host} = "${state.host}"`;
      const sessions = await countIn(client.namespaces, query);
      waits += sessions;
      if (sessions > 0) since = Math.min(since ?? Infinity, Date.parse(state.since));
    }
    gauge(meter, 'holdfast_waits', { reason: 'host_offline' }, waits);
    gauge(meter, 'holdfast_wait_oldest_seconds', { reason: 'host_offline' }, secondsSince(since));
  }

  private async reportQueues(all: readonly string[]): Promise<void> {
    const { temporal } = this.options.client;
    const queues = all.slice(0, MAX_QUEUES);
    for (const gone of this.queues) if (!queues.includes(gone)) this.reportEmpty(gone);
    for (const queue of queues) {
      this.queues.add(queue);
      for (const [kind, taskQueueType] of Object.entries(QUEUE_KINDS)) {
        const { stats } = await temporal.workflowService.describeTaskQueue({
          namespace: temporal.options.namespace,
          taskQueue: { name: queue },
          taskQueueType,
          reportStats: true,
        });
        const { seconds, nanos } = stats?.approximateBacklogAge ?? {};
        const age = Number(seconds ?? 0) + Number(nanos ?? 0) / 1e9;
        this.reportQueue({ queue, kind }, Number(stats?.approximateBacklogCount ?? 0), age);
      }
    }
  }

  private reportQueue(labels: { queue: string; kind: string }, tasks: number, age: number): void {
    const { meter } = this.options;
    gauge(meter, 'holdfast_queue_backlog', labels, tasks);
    gauge(meter, 'holdfast_queue_backlog_age_seconds', labels, age);
  }

  private reportEmpty(queue: string): void {
    for (const kind of Object.keys(QUEUE_KINDS)) this.reportQueue({ queue, kind }, 0, 0);
    this.queues.delete(queue);
  }

  private reportNothing(): void {
    const { meter } = this.options;
    for (const state of AGENT_STATES) gauge(meter, 'holdfast_agents', { state }, 0);
    for (const status of ['online', 'offline']) gauge(meter, 'holdfast_hosts', { status }, 0);
    for (const reason of [...REASONS, 'host_offline']) {
      gauge(meter, 'holdfast_waits', { reason }, 0);
      gauge(meter, 'holdfast_wait_oldest_seconds', { reason }, 0);
    }
    for (const queue of this.queues) this.reportEmpty(queue);
  }
}

const running = (...types: string[]): string =>
  `ExecutionStatus = "Running" AND WorkflowType IN (${types.map((type) => `"${type}"`).join(', ')})`;

/** Nothing is known of a host's namespace that cannot be read. */
async function countIn(namespaces: HostNamespaces, query: string): Promise<number> {
  const { found } = await namespaces.found(async ({ workflow }) => [(await workflow.count(query)).count]);
  return found.reduce((sum, { one }) => sum + one, 0);
}

/** When the oldest began, in milliseconds since the Unix epoch; of older waits at most 200 are compared. */
async function oldestIn(namespaces: HostNamespaces, query: string): Promise<number | undefined> {
  for (const age of AGES_MS) {
    const before = new Date(Date.now() - age).toISOString();
    const waits = `${query} AND ${SEARCH_ATTRIBUTES.noticedAt} <= "${before}"`;
    const { found } = await namespaces.found(async (client) => {
      const times: number[] = [];
      let left = MAX_LISTED;
      for await (const { typedSearchAttributes } of listWorkflows(client, {
        query: waits,
        pageSize: MAX_LISTED,
      })) {
        const at = typedSearchAttributes.get(NOTICED_AT_KEY)?.getTime();
        if (at !== undefined) times.push(at);
        if (--left === 0) break;
      }
      return times;
    });
    if (found.length > 0) return Math.min(...found.map(({ one }) => one));
  }
  return undefined;
}

const secondsSince = (time: number | undefined): number =>
  time === undefined ? 0 : (Date.now() - time) / 1_000;
