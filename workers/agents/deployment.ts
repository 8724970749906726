// Worker Deployment Versioning: workflows are served by one build at a time, so that no run gets to a worker that does not
// know its code. See docs/decisions/0019-upgrades.md.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import { grpcCode, NOT_FOUND } from '../../client/delivery/grpc-code';
import { describeWorkflow } from '../../client/delivery/list-workflows';
import type { WorkerDeploymentOptions } from '@temporalio/worker';
import type { Versioning } from '../../contracts/schemas/configuration/configuration';
import { packageVersion } from '../../system/package-root';
import { forEachOpen } from '../open-workflows';
import { RepeatedLook } from '../repeated-look';
import { polledQueue, type PolledQueue } from './agents-pollers';

/** What servers without deployments answer: they do not know the method, or have it switched off. */
const WITHOUT: readonly number[] = [12, 9, 7];
const HASH_CHARACTERS = 12;
/** The server takes no dots, and no colons, in the name of a deployment. */
const NOT_IN_NAMES = /[^A-Za-z0-9_-]/g;
/** Runs that stay with the build that began them; the server's own attribute. */
const PINNED = 'TemporalWorkflowVersioningBehavior = "Pinned"';

export interface DeploymentOptions {
  client: Client;
  queue: string;
  /** The bundled workflows: they are what a build is. */
  bundle: string;
  versioning: Versioning;
  /** The suffix of the identity with which this worker polls. */
  instance: string;
  warn: (message: string, facts: { reason: string }) => void;
}

/** A build is the code of the workflows: workers that differ only in tools are of one build. */
const buildIdOf = (bundle: string): string =>
  `${packageVersion()}-${createHash('sha256').update(readFileSync(bundle)).digest('hex').slice(0, HASH_CHARACTERS)}`;

/** One deployment for each queue of agents. Queues whose names have other characters are distinguished by a hash. */
export function deploymentName(queue: string): string {
  const plain = queue.replace(NOT_IN_NAMES, '-');
  if (plain === queue) return queue;
  return `${plain}-${createHash('sha256').update(queue).digest('hex').slice(0, HASH_CHARACTERS)}`;
}

export class Deployment {
  readonly buildId: string;
  private readonly name: string;
  private readonly looks: RepeatedLook;
  /** The current build, if no worker of it polled at the last look. */
  private goneBefore: string | null = null;

  private constructor(private readonly options: DeploymentOptions) {
    this.buildId = buildIdOf(options.bundle);
    this.name = deploymentName(options.queue);
    this.looks = new RepeatedLook(
      () => this.look(),
      (reason) => options.warn('the current build of the task queue could not be checked', { reason }),
    );
  }

  /** Undefined if it is switched off, or if the server has no deployments: then workers poll without a version. */
  static async open(options: DeploymentOptions): Promise<Deployment | undefined> {
    if (options.versioning === 'off') return undefined;
    const deployment = new Deployment(options);
    return (await deployment.isSupported()) ? deployment : undefined;
  }

  get workerOptions(): WorkerDeploymentOptions {
    return {
      version: { deploymentName: this.name, buildId: this.buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: this.options.versioning === 'pinned' ? 'PINNED' : 'AUTO_UPGRADE',
    };
  }

  /** Before this worker polls: becomes current where no other worker would get the tasks, which saves them a wait. */
  async prepare(): Promise<void> {
    const { others, currentBuild } = await this.queue();
    if (others.length === 0 && currentBuild !== this.buildId) await this.setCurrent(this.buildId);
  }

  /** Once this worker polls. */
  async enter(): Promise<void> {
    this.looks.start();
    await this.look();
  }

  /**
   * After this worker has stopped. The last worker of all leaves the queue to its successor, such as workers
   * without a version. Workers of another build go on only some time later: this one may just be restarted.
   */
  async leave(): Promise<void> {
    await this.looks.end();
    const { others, currentBuild } = await this.queue();
    const isLast = others.every(({ buildId }) => buildId === null);
    if (isLast && currentBuild === this.buildId) await this.setCurrent('');
  }

  private async look(): Promise<void> {
    const { others, currentBuild } = await this.queue();
    if (currentBuild !== this.buildId) {
      if (!(await this.isNext(others, currentBuild))) return;
      await this.setCurrent(this.buildId);
    }
    await this.moveStranded(others);
  }

  /** A build that has been current before goes on only when the one that replaced it is gone for two looks. */
  private async isNext(others: PolledQueue['others'], currentBuild: string | null): Promise<boolean> {
    if (currentBuild === null || others.length === 0) return true;
    const isGone = !isPolledBy(others, currentBuild);
    if (isGone && this.goneBefore === currentBuild) return true;
    this.goneBefore = isGone ? currentBuild : null;
    const { workerDeploymentInfo } = await this.describe();
    const own = workerDeploymentInfo?.versionSummaries?.find(
      ({ deploymentVersion }) => deploymentVersion?.buildId === this.buildId,
    );
    return !own?.firstActivationTime;
  }

  /** Runs that are pinned to a build without workers would wait for ever: they go on with the current one. */
  private async moveStranded(others: PolledQueue['others']): Promise<void> {
    const { client, queue } = this.options;
    const { namespace } = client.options;
    const move = async (execution: { workflowId: string; runId: string }): Promise<void> => {
      const { raw } = await describeWorkflow(client, execution.workflowId, execution.runId);
      const { versioningInfo } = raw.workflowExecutionInfo ?? {};
      const buildId = versioningInfo?.deploymentVersion?.buildId ?? this.buildId;
      if (buildId === this.buildId || isPolledBy(others, buildId) || versioningInfo?.versioningOverride)
        return;
      await client.workflowService.updateWorkflowExecutionOptions({
        namespace,
        workflowExecution: execution,
        workflowExecutionOptions: { versioningOverride: { autoUpgrade: true } },
        updateMask: { paths: ['versioning_override'] },
      });
    };
    await forEachOpen(client, { taskQueue: queue, only: PINNED }, move);
  }

  private queue(): Promise<PolledQueue> {
    const { client, queue, instance } = this.options;
    return polledQueue(client, queue, [instance]);
  }

  private describe(): ReturnType<Client['workflowService']['describeWorkerDeployment']> {
    const { client } = this.options;
    return client.workflowService.describeWorkerDeployment({
      namespace: client.options.namespace,
      deploymentName: this.name,
    });
  }

  private async isSupported(): Promise<boolean> {
    try {
      await this.describe();
      return true;
    } catch (err) {
      const code = grpcCode(err);
      if (code === NOT_FOUND) return true;
      if (code !== undefined && WITHOUT.includes(code)) return false;
      throw err;
    }
  }

  /** Empty: workers without a version. The build need not have polled yet. */
  private async setCurrent(buildId: string): Promise<void> {
    const { client, instance } = this.options;
    await client.workflowService.setWorkerDeploymentCurrentVersion({
      namespace: client.options.namespace,
      deploymentName: this.name,
      buildId,
      identity: instance,
      ignoreMissingTaskQueues: true,
      allowNoPollers: true,
    });
  }
}

const isPolledBy = (others: PolledQueue['others'], build: string): boolean =>
  others.some(({ buildId }) => buildId === build);
