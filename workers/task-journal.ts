// Remembers on disk which activities this worker is at, so that after a kill the next one can tell the
// server at once. Without it each would be missed only after its heartbeat time-out. What was on its way to the worker
// is in no journal: the server is asked for it, by the name that the worker polled under.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityExecuteInput, ActivityInboundCallsInterceptor, Next } from '@temporalio/worker';
import type { Context } from '@temporalio/activity';
import { crashPoint } from '../activities/crash-point';
import { WORKER_LOST } from '../contracts/failure';
import { readJson, removeQuietly, writeJson } from '../exec/json-file';
import { identityOf, isAlive, type Identity } from '../exec/process-identity';
import { forEachOpen } from './open-workflows';

const PARTIAL = '.partial';
/** temporal.api.enums.v1.PendingActivityState */
const STARTED = 2;

interface Owner extends Identity {
  /** What the names end in that it polls under. Journals of releases before 0.2 have none. */
  instance?: string;
}

interface Task {
  /** In base64. */
  token: string;
  workflowId: string | null;
}

export class TaskJournal {
  private readonly directory: string;

  /** One folder per worker process below `root`; `instance` is in the names that its workers poll under. */
  constructor(
    private readonly root: string,
    instance: string,
  ) {
    this.directory = join(root, randomUUID());
    // By rename: a folder without an owner is an orphan to a worker that starts at the same time.
    const partial = `${this.directory}${PARTIAL}`;
    mkdirSync(partial, { recursive: true, mode: 0o700 });
    writeJson(join(partial, 'owner.json'), { ...identityOf(process.pid), instance } satisfies Owner);
    renameSync(partial, this.directory);
  }

  /** For the worker option `interceptors.activity`. */
  interceptor(context: Context): { inbound: ActivityInboundCallsInterceptor } {
    const path = join(this.directory, `${randomUUID()}.token`);
    const execute = async (
      input: ActivityExecuteInput,
      next: Next<ActivityInboundCallsInterceptor, 'execute'>,
    ): Promise<unknown> => {
      const { taskToken, workflowExecution } = context.info;
      const task: Task = {
        token: Buffer.from(taskToken).toString('base64'),
        workflowId: workflowExecution?.workflowId ?? null,
      };
      crashPoint('activity-arrived');
      keep(path, task);
      try {
        return await next(input);
      } finally {
        removeQuietly(path);
      }
    };
    return { inbound: { execute } };
  }

  /** Whether a worker of this data folder was killed since the last `failOrphans`. */
  hasOrphans(): boolean {
    return this.orphans().length > 0;
  }

  /**
   * Fails what dead workers were at, for an immediate new attempt. Returns how many there were. `taskQueue` is that of
   * the workflows.
   */
  async failOrphans(client: Client, taskQueue: string): Promise<number> {
    const orphans = this.orphans();
    let failed = 0;
    for (const folder of orphans) {
      for (const file of readdirSync(folder).filter((f) => f.endsWith('.token'))) {
        failed += (await failOne(client, taskOf(readFileSync(join(folder, file))))) ? 1 : 0;
      }
    }
    const instances = orphans.flatMap(
      (folder) => readJson<Owner>(join(folder, 'owner.json'))?.instance ?? [],
    );
    if (instances.length > 0) failed += await failHandedOut(client, taskQueue, instances);
    for (const folder of orphans) removeQuietly(folder);
    return failed;
  }

  private orphans(): string[] {
    return readdirSync(this.root)
      .filter((name) => !name.endsWith(PARTIAL))
      .map((name) => join(this.root, name))
      .filter((folder) => {
        const owner = readJson<Owner>(join(folder, 'owner.json'));
        return folder !== this.directory && !(owner && isAlive(owner));
      });
  }

  /** After a graceful end. */
  close(): void {
    removeQuietly(this.directory);
  }
}

/** A disk that takes nothing must not decide what becomes of an activity: one that is missed is so by its heartbeat. */
function keep(path: string, task: Task): void {
  try {
    // A token lets its holder answer for the activity.
    writeFileSync(`${path}.partial`, JSON.stringify(task), { mode: 0o600 });
    renameSync(`${path}.partial`, path);
  } catch {
    removeQuietly(`${path}.partial`);
  }
}

/** Journals of releases before 0.2 hold the token alone. */
function taskOf(content: Buffer): Task {
  if (content[0] === '{'.charCodeAt(0)) return JSON.parse(content.toString()) as Task;
  return { token: content.toString('base64'), workflowId: null };
}

const workerLost = (): ApplicationFailure =>
  ApplicationFailure.create({
    type: WORKER_LOST,
    message: 'the worker was killed while it was at this activity',
    nextRetryDelay: 1,
  });

async function failOne(client: Client, { token, workflowId }: Task): Promise<boolean> {
  const { namespace } = client.options;
  try {
    await client.activity.fail(
      Buffer.from(token, 'base64'),
      workerLost(),
      // For whom it is encrypted: the token does not tell.
      workflowId === null
        ? {}
        : { serializationContext: { type: 'activity', namespace, workflowId, isLocal: false } },
    );
    return true;
  } catch {
    // It had answered before it died, its time-out has passed, or the token is of another server. What is left is
    // found by its heartbeat time-out; a worker must start all the same.
    return false;
  }
}

/** Of open workflows: activities that the server has handed to one of the dead workers. Returns how many there were. */
async function failHandedOut(
  client: Client,
  taskQueue: string,
  instances: readonly string[],
): Promise<number> {
  let failed = 0;
  await forEachOpen(client, taskQueue, async ({ workflowId, runId }) => {
    const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
    for (const { activityId, lastWorkerIdentity, state } of raw.pendingActivities ?? []) {
      const isLost = instances.some((instance) => lastWorkerIdentity?.endsWith(` ${instance}`));
      if (Number(state) !== STARTED || !isLost || !activityId) continue;
      await client.activity.fail({ workflowId, runId, activityId }, workerLost());
      failed += 1;
    }
  });
  return failed;
}
