// Records on disk which activities this worker is running, so that after a kill the next one can report them to the server at
// once. Without it, each would be noticed only after its heartbeat timeout. Tasks on their way to the worker are in no
// journal: the server is asked for those, by the identity with which the worker polled.
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { ActivityExecuteInput, ActivityInboundCallsInterceptor, Next } from '@temporalio/worker';
import type { Context } from '@temporalio/activity';
import { crashPoint } from '../../system/faults/crash-point';
import { workerLost } from '../../contracts/errors/failure';
import { readJson, removeQuietly, writeJson } from '../../system/json-file';
import { makeFolder } from '../../system/make-folder';
import { identityOf, isAlive, type Identity } from '../../system/processes/process-identity';

const PARTIAL = '.partial';

interface Owner extends Identity {
  /** Suffix of the identities with which it polls. */
  instance: string;
}

interface Task {
  /** In base64. */
  token: string;
  workflowId: string | null;
}

export class TaskJournal {
  private readonly directory: string;

  /** One folder per worker process below `root`; `instance` is part of the identities with which its workers poll. */
  constructor(
    private readonly root: string,
    instance: string,
  ) {
    this.directory = join(root, randomUUID());
    // By rename: a worker that starts at the same time would take a folder without an owner for an orphan.
    const partial = `${this.directory}${PARTIAL}`;
    makeFolder(partial);
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

  /** Instances of workers of this data folder that were killed, and whose work was not yet given back. */
  lost(): string[] {
    return instancesOf(this.orphans());
  }

  /** Workflows that ran an activity when their worker was killed. */
  lostWorkflows(): string[] {
    return this.lostTasks().flatMap(({ workflowId }) => workflowId ?? []);
  }

  /** Fails the recorded activities of dead workers, so that they are retried at once. Returns their number. */
  async failOrphans(client: Client): Promise<number> {
    let failed = 0;
    for (const task of this.lostTasks()) failed += (await failOne(client, task)) ? 1 : 0;
    return failed;
  }

  /** Once all is given back that these instances had. */
  forget(instances: readonly string[]): void {
    for (const folder of this.orphans())
      if (instancesOf([folder]).every((instance) => instances.includes(instance))) removeQuietly(folder);
  }

  private lostTasks(): Task[] {
    return this.orphans().flatMap((folder) =>
      unlessUnreadable(() => readdirSync(folder))
        .filter((file) => file.endsWith('.token'))
        .flatMap((file) => unlessUnreadable(() => [taskOf(readFileSync(join(folder, file)))])),
    );
  }

  private orphans(): string[] {
    return orphansIn(this.root).filter((folder) => folder !== this.directory);
  }

  /** After a graceful end. */
  close(): void {
    removeQuietly(this.directory);
  }
}

/** The folder of the journals of a data folder's workers that serve agents. */
export const agentTasks = (dataDir: string): string => join(dataDir, 'tasks');

/**
 * Instances of the data folder's killed workers with agents, for a process that is not one itself. Only of this boot: it
 * has no claim that would say whether another machine's worker is gone.
 */
export function lostInstances(dataDir: string): string[] {
  const root = agentTasks(dataDir);
  if (!existsSync(root)) return [];
  const { bootId } = identityOf(process.pid);
  return instancesOf(orphansIn(root).filter((folder) => ownerOf(folder)?.bootId === bootId));
}

/** The instance of a worker of the data folder that runs; undefined if it serves no agents. */
export function instanceOf(dataDir: string, { pid }: Identity): string | undefined {
  const root = agentTasks(dataDir);
  if (!existsSync(root)) return undefined;
  return journalsIn(root)
    .map(ownerOf)
    .find((owner) => owner?.pid === pid && isAlive(owner))?.instance;
}

const ownerOf = (folder: string): Owner | undefined => readJson<Owner>(join(folder, 'owner.json'));

const instancesOf = (folders: string[]): string[] =>
  folders.flatMap((folder) => ownerOf(folder)?.instance ?? []);

/** Journals of processes that no longer exist. */
function orphansIn(root: string): string[] {
  return journalsIn(root).filter((folder) => {
    const owner = ownerOf(folder);
    return !(owner && isAlive(owner));
  });
}

const journalsIn = (root: string): string[] =>
  readdirSync(root)
    .filter((name) => !name.endsWith(PARTIAL))
    .map((name) => join(root, name));

/** A full disk must not decide an activity's fate: without a record, the heartbeat timeout applies. */
function keep(path: string, task: Task): void {
  try {
    // Private: anyone with the token can complete the activity.
    writeFileSync(`${path}.partial`, JSON.stringify(task), { mode: 0o600 });
    renameSync(`${path}.partial`, path);
  } catch {
    removeQuietly(`${path}.partial`);
  }
}

/** What another process removes meanwhile, or a disk has damaged: the worker must start, and the heartbeat timeout applies. */
function unlessUnreadable<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch {
    return [];
  }
}

const taskOf = (content: Buffer): Task => JSON.parse(content.toString()) as Task;

async function failOne(client: Client, { token, workflowId }: Task): Promise<boolean> {
  const { namespace } = client.options;
  try {
    await client.activity.fail(
      Buffer.from(token, 'base64'),
      workerLost(),
      // The workflow for the encryption context: the token does not show it.
      workflowId === null
        ? {}
        : { serializationContext: { type: 'activity', namespace, workflowId, isLocal: false } },
    );
    return true;
  } catch {
    // It had answered before it died, it has timed out, or the token belongs to another server. The heartbeat timeout
    // covers the rest; the worker must start in any case.
    return false;
  }
}
