// Runs a set of workers: takes over the work of a killed one, and disconnects from the sessions at the end.
import { setTimeout as delay } from 'node:timers/promises';
import type { Worker } from '@temporalio/worker';
import type { HoldfastClient } from '../client/holdfast-client';
import { reasonOf } from '../contracts/errors/holdfast-error';
import type { AgentsClaim } from './agents/agents-claim';
import type { Deployment } from './agents/deployment';
import type { EnrolledHosts } from './agents/enrolled-hosts';
import type { FolderClaim } from './folder-claim';
import type { HostWorker } from './host/host-worker';
import type { ActivityRef } from '../activities/host/command-journal';
import { giveBack, resetCaches, type GivenBack, type LostWorkers } from './agents/lost-workers';
import type { RepeatedLook } from './repeated-look';
import type { SpanOutlet } from './telemetry/span-exporter';
import { reportStart, type WantedMetrics } from './telemetry/wanted-metrics';
import type { ServerConnection } from './server-connection';
import type { SubAgentSweep } from './agents/sub-agent-sweep';
import type { TaskJournal } from './process/task-journal';
import { endUnused, runInTime } from './worker-stop';

const LEAVE_MS = 2_500;
/** How long a start waits for the search for what killed workers had. */
const GIVE_BACK_MS = 1_000;

/** Any logger that takes a message and its facts, including the SDK's `Logger`. */
export interface WorkersLog {
  info(message: string, facts: Record<string, unknown>): void;
  warn(message: string, facts: Record<string, unknown>): void;
}

/** The parts of a process that serves agents. */
export interface AgentSide {
  worker: Worker;
  subAgents: SubAgentSweep;
  enrolled: EnrolledHosts;
  claim: AgentsClaim;
  /** Undefined where workers poll without a version. */
  deployment: Deployment | undefined;
  /** Metrics that are looked for at the server; null: none are wanted. */
  gauges: RepeatedLook | null;
  /** Once the worker polls. */
  startHooks: () => Promise<void>;
  /** Disconnects readers of live model output. */
  close: () => void;
}

interface Parts {
  server: ServerConnection;
  journal: TaskJournal;
  agentSide: AgentSide | undefined;
  hostWorker: HostWorker | undefined;
  folder: FolderClaim;
  /** Lets the next worker take the host. */
  release: () => void;
  /** Closes the MCP servers. */
  closeTools: () => Promise<void>;
  /** Null: no metrics are wanted. */
  metrics: WantedMetrics | null;
  /** Null: no traces are wanted. */
  spans: SpanOutlet | null;
  log: WorkersLog;
}

/** What was found at the start. */
export interface WorkersReady {
  /** When polling began, in milliseconds since the Unix epoch. */
  pollingSince: number;
  /** Running commands taken over from an earlier worker. */
  adopted: number;
  /** Activities during which an earlier worker was killed, given back for a retry; as far as they were found by then. */
  orphans: number;
  /** Open workflows whose cache the killed worker took with it, as far as they were found by then. */
  open: number;
}

export class Workers {
  private isStopping = false;
  private running: Promise<void> | undefined;
  private closing: Promise<void> | undefined;
  private failure: Error | undefined;
  private readonly search = new AbortController();
  private giving: Promise<void> | undefined;

  constructor(private readonly parts: Parts) {}

  /** For starting agents and talking to sessions; usable while the workers run. */
  get client(): HoldfastClient {
    return this.parts.server.client;
  }

  /**
   * Serves until `shutdown`, `close`, SIGINT or SIGTERM. Sessions live on and are taken over by the next worker of the
   * data folder. If a worker fails, ends all of them and throws its error. Can be called once.
   */
  async run({ onReady }: { onReady?: ((ready: WorkersReady) => void) | undefined } = {}): Promise<void> {
    if (this.isStopping) {
      await this.close();
      if (this.failure) throw this.failure;
      return;
    }
    this.running ??= this.serveAndLetGo(onReady);
    return this.running;
  }

  /** Ends `run` gracefully; closes workers that have not run. */
  shutdown(): void {
    this.isStopping = true;
    for (const worker of this.workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    const { agentSide, log } = this.parts;
    // At the same time: together they must not take longer than people wait for a stop.
    void agentSide?.enrolled.stop();
    if (!this.running)
      this.close().catch((err: unknown) => log.warn('workers did not close', { reason: reasonOf(err) }));
  }

  /** Ends all of them because one may not continue; `run` throws the error. */
  fail(err: Error): void {
    this.failure ??= err;
    this.shutdown();
  }

  /**
   * Like `shutdown`, and resolves when everything is released: the host, the connections, the spare. A worker's failure
   * is reported by `run`. May be called repeatedly and at any time.
   */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private get workers(): Worker[] {
    const { agentSide, hostWorker } = this.parts;
    return [agentSide?.worker, hostWorker?.worker].filter((worker) => worker !== undefined);
  }

  /** Resolves with false if what the last steps have returned may not have reached the server. */
  private async serve(onReady?: (ready: WorkersReady) => void): Promise<boolean> {
    const { journal, hostWorker, agentSide, metrics, log } = this.parts;
    const { temporal } = this.client;
    const lost = this.lostWorkers();
    // Before the dead worker's activities are answered: each answer is a workflow task that must come to us.
    if (agentSide) await resetCaches(temporal, lost, journal.lostWorkflows());
    const pollingSince = Date.now();
    const runs = this.workers.map((worker) => runInTime(worker, worker.run()).finally(() => this.shutdown()));
    const ended = Promise.allSettled(runs);
    try {
      if (this.isStopping) this.shutdown();
      // Only now: answers are dispatched at once, and we must be polling by then.
      const adopted = hostWorker?.adopt() ?? 0;
      await this.enterDeployment();
      agentSide?.subAgents.looks.start();
      agentSide?.enrolled.start();
      await agentSide?.startHooks();
      const given = { open: 0, orphans: await journal.failOrphans(temporal) };
      await this.giveBack(lost, given, () => {
        if (metrics) reportStart(metrics, { pollingSince, adopted, ...given });
      });
      const ready = { pollingSince, adopted, ...given };
      agentSide?.gauges?.start({ now: true });
      onReady?.(ready);
      log.info('ready', { address: this.client.address, namespace: temporal.options.namespace, ...ready });
    } catch (err) {
      this.shutdown();
      await ended;
      throw err;
    }
    const outcomes = await ended;
    for (const run of outcomes) if (run.status === 'rejected') throw run.reason;
    if (this.failure) throw this.failure;
    return outcomes.every((run) => run.status === 'fulfilled' && run.value);
  }

  private lostWorkers(): LostWorkers {
    const { queue } = this.client.server;
    return { taskQueue: queue, instances: this.parts.journal.lost(), signal: this.search.signal };
  }

  /**
   * Looks at all open workflows for what killed workers had. With a thousand of them it takes seconds: then it goes on
   * while we serve. `onGiven` is called when `given` is complete, and before if that takes long.
   */
  private async giveBack(lost: LostWorkers, given: GivenBack, onGiven: () => void): Promise<void> {
    const { journal, hostWorker, log } = this.parts;
    let isReady = false;
    const isKept = (activity: ActivityRef): boolean => hostWorker?.completes(activity) ?? false;
    const giving = giveBack(this.client.temporal, { ...lost, isKept }, given)
      .then(() => {
        // One that was stopped is begun again by the next worker.
        if (!lost.signal?.aborted) journal.forget(lost.instances);
        onGiven();
        if (isReady) log.info('what killed workers had is given back', { ...given });
      })
      .catch((err: unknown) =>
        log.warn('what killed workers had is not given back yet', { reason: reasonOf(err) }),
      );
    this.giving = giving;
    await Promise.race([giving, delay(GIVE_BACK_MS, undefined, { ref: false })]);
    isReady = true;
    onGiven();
  }

  private async serveAndLetGo(onReady?: (ready: WorkersReady) => void): Promise<void> {
    let mayClose: boolean;
    try {
      mayClose = await this.serve(onReady);
    } catch (err) {
      await this.endThoseUnused();
      await this.letGo().catch(() => undefined);
      throw err;
    }
    // Not after a failure: the next worker gives back what is recorded there.
    if (mayClose) this.parts.journal.close();
    await this.letGo();
  }

  private async end(): Promise<void> {
    this.isStopping = true;
    if (this.running) {
      this.shutdown();
      return this.running.catch(() => undefined);
    }
    await this.endThoseUnused();
    this.parts.journal.close();
    await this.letGo();
  }

  /** Otherwise they hold the connection for ever. */
  private async endThoseUnused(): Promise<void> {
    const unused = this.workers.filter((worker) => worker.getState() === 'INITIALIZED');
    await Promise.allSettled(unused.map(endUnused));
  }

  /** It is checked again and again, so a failure does not stop the start. */
  private async enterDeployment(): Promise<void> {
    const { agentSide, log } = this.parts;
    try {
      await agentSide?.deployment?.enter();
    } catch (err) {
      log.warn('this build could not take over the task queue yet', { reason: reasonOf(err) });
    }
  }

  /**
   * Only a convenience, since others ignore a claim of workers that are gone: do not wait for an unreachable server.
   */
  private async leaveQueues(): Promise<void> {
    const { agentSide, hostWorker, folder, log } = this.parts;
    try {
      // A deadline, because an abort signal does not end the pause before a retry.
      await this.client.temporal.withDeadline(Date.now() + LEAVE_MS, () =>
        Promise.all([
          agentSide?.claim.leave(),
          agentSide?.deployment?.leave(),
          hostWorker?.leave(),
          folder.leave(),
        ]),
      );
    } catch (err) {
      log.warn('the task queues could not be freed', { reason: reasonOf(err) });
    }
  }

  private async letGo(): Promise<void> {
    const { hostWorker, agentSide, release, closeTools, server, spans } = this.parts;
    this.search.abort();
    await this.giving;
    agentSide?.subAgents.looks.stop();
    agentSide?.gauges?.stop();
    await agentSide?.enrolled.stop();
    try {
      agentSide?.close();
      await Promise.all([hostWorker?.detach(), closeTools()]);
      await this.leaveQueues();
    } finally {
      release();
      await Promise.all([server.close(), spans?.close()]);
    }
  }
}
