// Serves the workflows of hosts that have their own namespace, and nothing else there: anyone with the credentials of
// such a namespace may send any message in it, and must not find a worker that does more than maintain its sessions.
import type { DataConverter } from '@temporalio/common';
import { Worker, type NativeConnection } from '@temporalio/worker';
import type { Client } from '@temporalio/client';
import type { HoldfastClient } from '../../client/holdfast-client';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { toFailure } from '../../contracts/errors/failure';
import { NO_SINKS } from '../no-sinks';
import type { Deployment } from './deployment';
import { EndedAgents } from './ended-agents';
import { endPlaintextRuns } from './plaintext-runs';
import { RepeatedLook } from '../repeated-look';
import { activatesPatch, hasStateAttributes } from '../search-attributes';
import { endUnused, runInTime, stopsWithin } from '../worker-stop';
import { workflowBundle } from '../workflow-bundle';

/** The server may be unreachable. */
const LEAVE_MS = 2_500;

export interface EnrolledHostsOptions {
  client: HoldfastClient;
  connection: NativeConnection;
  dataConverter: DataConverter | undefined;
  /** With which the workers poll. */
  identity: string;
  /** How builds follow each other in a namespace; undefined: without versions. */
  deploymentIn: (namespace: Client) => Promise<Deployment | undefined>;
  warn: (message: string, facts: Record<string, unknown>) => void;
}

interface Served {
  worker: Worker;
  ended: Promise<unknown>;
  endedAgents: EndedAgents;
}

export class EnrolledHosts {
  /** Looks for newly enrolled hosts, between `start` and `stop`. */
  private readonly looks = new RepeatedLook(
    () => this.look(),
    (reason) => this.options.warn('enrolled hosts could not be looked up', { reason }),
  );
  private readonly served = new Map<string, Served>();
  private stopping: Promise<void> | undefined;

  constructor(private readonly options: EnrolledHostsOptions) {}

  start(): void {
    if (!this.stopping) this.looks.start({ now: true });
  }

  /** May be called repeatedly. */
  stop(): Promise<void> {
    this.stopping ??= this.endAll();
    return this.stopping;
  }

  private async endAll(): Promise<void> {
    this.shutdownServed();
    // One that has begun may still create a worker, which holds the connection. If it takes longer, it ends that itself.
    await this.looks.end();
    this.shutdownServed();
    await Promise.all([...this.served.values()].map(({ ended }) => ended));
  }

  private shutdownServed(): void {
    for (const { worker } of this.served.values()) if (worker.getState() === 'RUNNING') worker.shutdown();
  }

  private async look(): Promise<void> {
    const [agents, ...own] = await this.options.client.namespaces.all();
    if (!agents) return;
    // A host that cannot be served does not hold up the others.
    const done = await Promise.allSettled(own.map((sessions) => this.lookAt(agents, sessions)));
    const failed = done.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }

  private async lookAt(agents: Client, sessions: Client): Promise<void> {
    const { namespace } = sessions.options;
    const known = this.served.get(namespace);
    // Done here because the host itself cannot see the agents.
    if (known) return known.endedAgents.look();
    const deployment = await this.options.deploymentIn(sessions);
    const prepared = deployment?.prepare().catch(() => undefined);
    const warn = (message: string, facts: object): void =>
      this.options.warn(message, { namespace, ...facts });
    const { queue } = this.options.client.server;
    await endPlaintextRuns({ client: sessions, queue, quota: null, warn });
    const worker = await this.createWorker(sessions, deployment);
    await prepared;
    if (this.stopping) return endUnused(worker);
    const ended = runInTime(worker, worker.run())
      .finally(() => sessions.withDeadline(Date.now() + LEAVE_MS, async () => deployment?.leave()))
      .catch((err: unknown) => warn('an enrolled host is no longer served', { reason: reasonOf(err) }))
      .finally(() => this.served.delete(namespace));
    const endedAgents = new EndedAgents({ agents, sessions, log: warn });
    this.served.set(namespace, { worker, ended, endedAgents });
    await deployment?.enter();
  }

  private async createWorker(sessions: Client, deployment: Deployment | undefined): Promise<Worker> {
    const { connection, dataConverter, identity, warn } = this.options;
    const { namespace } = sessions.options;
    const hasAttributes = await hasStateAttributes(sessions, (message, facts) =>
      warn(message, { namespace, ...facts }),
    );
    return Worker.create({
      connection,
      namespace,
      taskQueue: this.options.client.server.queue,
      identity,
      ...(dataConverter && { dataConverter }),
      workflowBundle: workflowBundle(dataConverter),
      ...(deployment && { workerDeploymentOptions: deployment.workerOptions }),
      patchActivationCallback: activatesPatch(hasAttributes),
      // Any other activity requested there fails at once, instead of waiting for a worker that must not exist.
      activities: { default: refuse },
      maxConcurrentActivityTaskExecutions: 10,
      maxConcurrentWorkflowTaskExecutions: 10,
      stickyQueueScheduleToStartTimeout: '2s',
      sinks: NO_SINKS,
      ...stopsWithin(),
    });
  }
}

function refuse(): Promise<never> {
  return Promise.reject(
    toFailure(
      new HoldfastError('tool_not_allowed', { got: 'a call', allowed: 'none in the namespace of a host' }),
    ),
  );
}
