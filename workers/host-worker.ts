// The worker of one host: its shells and nothing else, on task queue `host.<name>`.
import { join } from 'node:path';
import { Worker, type NativeConnection } from '@temporalio/worker';
import { CommandCompletion } from '../activities/command-completion';
import { createHostActivities } from '../activities/host-activities';
import type { HoldfastClient } from '../client/holdfast-client';
import { hostTaskQueue } from '../contracts/ids';
import { SessionHost, type SessionHostOptions } from '../exec/session-host';
import { OrphanSweep, sessionOwner } from './orphan-sweep';
import type { TaskJournal } from './task-journal';

export interface HostWorkerOptions extends SessionHostOptions {
  host: string;
  connection: NativeConnection;
  namespace: string;
  client: HoldfastClient;
  journal: TaskJournal;
  log: (message: string, facts: object) => void;
}

export interface HostWorker {
  worker: Worker;
  /** Takes over the commands of an earlier worker; returns how many. Call it once, when workflows are served. */
  adopt(): number;
  /** Lets go of the sessions; they live on. */
  detach(): Promise<void>;
}

export async function createHostWorker(options: HostWorkerOptions): Promise<HostWorker> {
  const { host, connection, namespace, client, journal, log } = options;
  const sessions = new SessionHost({
    ...options,
    owner: await sessionOwner(client.temporal),
    keepSpare: true,
  });
  const sweep = new OrphanSweep({ client: client.temporal, sessions, host, log });
  const completion = new CommandCompletion(
    client.temporal,
    sessions,
    join(options.dataDir, 'commands', host),
    log,
  );
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue: hostTaskQueue(host),
    activities: { ...createHostActivities({ host, sessions, completion }) },
    maxConcurrentActivityTaskExecutions: 500,
    // `output --wait` is told of a cancellation with its heartbeat's answer.
    maxHeartbeatThrottleInterval: '2s',
    shutdownGraceTime: '2s',
    shutdownForceTime: '5s',
    interceptors: { activity: [(context) => journal.interceptor(context)] },
  });
  sweep.start();
  const detach = async (): Promise<void> => {
    sweep.stop();
    completion.detach();
    sessions.detach();
    await sessions.endSpare();
  };
  return { worker, adopt: () => completion.adopt(), detach };
}
