// The worker of one host: its shells and nothing else, on task queue `host.<name>`.
import { join } from 'node:path';
import type { DataConverter } from '@temporalio/common';
import { Worker, type NativeConnection } from '@temporalio/worker';
import type { ImageStore } from '../../activities/blobs/image-store';
import type { LargeValues } from '../../activities/blobs/large-values';
import type { CancelledCalls } from '../../activities/cancelled-calls';
import { CommandCompletion } from '../../activities/host/command-completion';
import type { ActivityRef } from '../../activities/host/command-journal';
import { CommandGate, type CheckCode } from '../../activities/host/command-gate';
import { createHostActivities } from '../../activities/host/host-activities';
import { createWorkspaceActivities } from '../../activities/host/workspace-activities';
import { createToolActivities } from '../../activities/tools/tool-activities';
import type { ToolRulings } from '../../activities/tools/tool-ruling';
import { ToolChannel } from '../../activities/tools/tool-channel';
import type { Tracing } from '../../activities/traced-activity';
import type { HoldfastClient } from '../../client/holdfast-client';
import { hostTaskQueue, LOCAL_HOST, type SessionRef } from '../../contracts/ids';
import { armSession } from '../../exec/client/arm-session';
import { AttachServer } from '../../exec/attach/attach-server';
import { AuditLog } from '../../exec/host/audit-log';
import { FilesHost } from '../../exec/transfer/door/files-host';
import { FilesDoor } from '../../exec/transfer/door/files-door';
import { HostAccess } from '../../exec/host/host-access';
import type { Sandbox } from '../../exec/sandbox/sandbox';
import type { Terminals } from '../../exec/terminals';
import type { PolicySettings } from '../../contracts/tools/policy';
import type { CheckpointSettings } from '../../contracts/workspaces/settings';
import type { HostFacts } from '../../contracts/schemas/remote-hosts';
import type { Effects } from '../../contracts/tools/tools';
import type { ToolRegistry } from '../../tools/registry';
import type { HostClaim } from './host-claim';
import { activityInterceptors } from '../telemetry/activity-interceptors';
import { hostGauges } from '../telemetry/host-gauges';
import type { WantedMetrics } from '../telemetry/wanted-metrics';
import { HostPresence } from './host-presence';
import { HostWorkspaces } from './host-workspaces';
import { logLooks, retentionLooks } from './log-looks';
import type { OfferLooks } from './offer-looks';
import { OrphanSweep } from './orphan-sweep';
import type { PublishedStubs } from './published-stubs';
import type { TaskJournal } from '../process/task-journal';
import { stopsWithin } from '../worker-stop';

export interface HostWorkerOptions {
  host: string;
  ownership: HostClaim;
  sessions: Terminals;
  /** Maximum total size of the logs of all its sessions, in bytes. */
  logBytes: number;
  /** How long a closed session is kept, in milliseconds. */
  keepMs: number;
  /** Which files checkpoints hold. */
  checkpoints: CheckpointSettings;
  /** The sandbox of tools outside sessions; each session has its own. */
  sandbox: Sandbox | undefined;
  connection: NativeConnection;
  namespace: string;
  dataConverter: DataConverter | undefined;
  client: HoldfastClient;
  journal: TaskJournal;
  tools: ToolRegistry;
  blobs: LargeValues;
  images: ImageStore;
  policy: () => PolicySettings;
  rulings: ToolRulings;
  /** Those of the workflows that run in this process. */
  cancelled: CancelledCalls;
  /** The agents' tools, for a host without agents. */
  offers: OfferLooks | undefined;
  /** Undefined: scripts here call no tools. */
  stubs: PublishedStubs | undefined;
  /** Produces the findings that the policy has rules for. */
  checks: CheckCode;
  /** `ADDRESS:PORT` for people at terminals here; without it they follow through Temporal. */
  listen?: string | undefined;
  /** How long its steps may take to end once it is asked to stop, in milliseconds. */
  drainMs?: number | undefined;
  /** Null: no metrics are wanted. */
  metrics: WantedMetrics | null;
  /** Null: no traces are wanted. */
  tracing: Tracing | null;
  log: (message: string, facts: object) => void;
}

export interface HostWorker {
  worker: Worker;
  /**
   * Takes over the commands of an earlier worker and returns their number; starts looking for orphans. Call it once,
   * when workflows are being served.
   */
  adopt(): number;
  /** Whether this activity is one of the commands that have not ended here. */
  completes(activity: ActivityRef): boolean;
  /** Disconnects from the sessions; they live on. */
  detach(): Promise<void>;
  /** After `detach`: frees the host's name if no session lives on. */
  leave(): Promise<void>;
}

/** What serves a host, before its worker polls. */
type Parts = ReturnType<typeof partsOf>;

function partsOf(options: HostWorkerOptions) {
  const { host, sessions, client, tools, blobs, ownership, policy, rulings, checks, offers, log } = options;
  const { dataDir, cwd, env } = sessions.options;
  const serverTime = (): Promise<number> => ownership.serverTime();
  const completion = new CommandCompletion(client.temporal, sessions, {
    journal: join(dataDir, 'commands', host),
    folderId: ownership.folderId,
    reportSpan: options.tracing?.reportSpan,
    log,
  });
  const traceOf = completion.traceOf.bind(completion);
  const access = new HostAccess(dataDir, host);
  const audit = new AuditLog(dataDir, host, log);
  const ofFiles = new HostWorkspaces({ ...options, client: client.temporal, serverTime });
  const sandboxOf = (agent: string): Sandbox | undefined => ofFiles.sandboxOf(agent);
  const files = new FilesHost({ host, cwd, env, sandboxOf, access, audit });
  const doors = new Doors({ dataDir, host, listen: options.listen, access, audit, files });
  // A host in the same process as the agents is online whenever they are.
  const presence =
    host === LOCAL_HOST
      ? undefined
      : new HostPresence({
          ...{ host, dataDir, sessions, access, directory: client.hosts, log },
          listens: () => doors.announced,
        });
  return {
    ...{ completion, access, audit, ofFiles, doors, presence },
    channel: new ToolChannel({ client, sessions, tools, blobs, rulings, offers, traceOf, log }),
    gate: new CommandGate(checks, policy, audit),
    looks: looksOf(options, { completion, serverTime }),
  };
}

/** What is looked at again and again. */
function looksOf(
  options: HostWorkerOptions,
  { completion, serverTime }: { completion: CommandCompletion; serverTime: () => Promise<number> },
) {
  const { host, sessions, client, log } = options;
  const sweep = new OrphanSweep({ client: client.temporal, sessions, host, log });
  const logs = logLooks({ sessions, host, maxBytes: options.logBytes, log });
  const retention = retentionLooks({ sessions, host, keepMs: options.keepMs, serverTime, log });
  const gauges =
    options.metrics &&
    hostGauges({
      ...{ host, sessions, log, ...options.metrics },
      logBytes: logs.bytes,
      commands: () => completion.running,
    });
  return { sweep: sweep.looks, logs: logs.looks, retention, gauges };
}

/** Where people and their files come in. */
class Doors {
  private readonly people: AttachServer | undefined;
  private readonly ofFiles: FilesDoor;

  constructor(
    private readonly of: {
      dataDir: string;
      host: string;
      listen: string | undefined;
      access: HostAccess;
      audit: AuditLog;
      files: FilesHost;
    },
  ) {
    const { listen } = of;
    this.people = listen === undefined ? undefined : new AttachServer({ ...of, listen });
    this.ofFiles = new FilesDoor(of);
  }

  get announced(): HostFacts['listens'] {
    return this.people?.announced ?? null;
  }

  async open(): Promise<void> {
    try {
      await this.people?.open();
      await this.ofFiles.open();
    } catch (err) {
      this.close();
      throw err;
    }
  }

  close(): void {
    this.people?.close();
    this.ofFiles.close();
    this.of.files.close();
  }
}

const pollingWorker = (options: HostWorkerOptions, parts: Parts): Promise<Worker> =>
  Worker.create({
    connection: options.connection,
    namespace: options.namespace,
    ...(options.dataConverter && { dataConverter: options.dataConverter }),
    taskQueue: hostTaskQueue(options.host),
    identity: options.ownership.identity,
    activities: activitiesOf(options, parts),
    maxConcurrentActivityTaskExecutions: 500,
    // By the heartbeat's answer `output --wait` learns of a cancellation.
    maxHeartbeatThrottleInterval: '2s',
    ...stopsWithin(options.drainMs),
    interceptors: { activity: activityInterceptors(options.journal, options.tracing) },
  });

function activitiesOf(options: HostWorkerOptions, parts: Parts): object {
  const { host, ownership, sessions, client, tools, blobs, images, rulings, cancelled } = options;
  const { access, ofFiles, presence } = parts;
  const { dataDir, cwd, env } = sessions.options;
  const connectTools = async (ref: SessionRef, signal: AbortSignal): Promise<void> => {
    await armSession(dataDir, ref, 'type', signal);
  };
  const admit = (tool: string, effects: Effects): void =>
    access.check(tool, effects === 'read_only' ? 'looks' : 'mutates');
  return {
    ...createHostActivities({ ...parts, host, ownership, sessions, client: client.temporal }),
    ...createToolActivities({
      ...{ client, tools, blobs, images, rulings, cancelled },
      confirm: () => ownership.confirm(),
      host: { name: host, cwd, env, admit, connectTools, ...ofFiles.toolHost },
    }),
    ...createWorkspaceActivities({
      ...{ host, ownership, access, sessions },
      workspaces: ofFiles.workspaces,
      trees: ofFiles.trees,
    }),
    ...presence?.presence.activities,
  };
}

export async function createHostWorker(options: HostWorkerOptions): Promise<HostWorker> {
  const parts = partsOf(options);
  if (options.ownership.isNew) await parts.presence?.claim();
  await parts.doors.open();
  try {
    return new ServedHost(options, parts, await pollingWorker(options, parts));
  } catch (err) {
    parts.doors.close();
    throw err;
  }
}

class ServedHost implements HostWorker {
  constructor(
    private readonly options: HostWorkerOptions,
    private readonly parts: Parts,
    readonly worker: Worker,
  ) {}

  adopt(): number {
    const { sessions, host, offers, stubs } = this.options;
    const { looks, ofFiles, presence, channel, completion } = this.parts;
    looks.sweep.start();
    looks.logs.start();
    looks.gauges?.start({ now: true });
    looks.retention.start();
    ofFiles.start();
    presence?.start();
    offers?.start(() => this.hasOpenSession());
    void stubs?.start();
    for (const ref of sessions.list())
      if (ref.host === host && sessions.isOpen(ref)) channel.serve(ref, { isAdopted: true });
    return completion.adopt();
  }

  completes(activity: ActivityRef): boolean {
    return this.parts.completion.completes(activity);
  }

  async detach(): Promise<void> {
    const { ownership, stubs, offers, sessions, sandbox } = this.options;
    const { looks, ofFiles, doors, presence, completion, channel } = this.parts;
    ownership.unwatch();
    stubs?.stop();
    looks.sweep.stop();
    looks.logs.stop();
    looks.gauges?.stop();
    looks.retention.stop();
    ofFiles.stop();
    doors.close();
    await presence?.stop();
    completion.detach();
    channel.detach();
    offers?.stop();
    sessions.detach();
    sandbox?.close();
    await sessions.endSpare();
  }

  async leave(): Promise<void> {
    if (!this.hasOpenSession()) await this.options.ownership.release();
  }

  private hasOpenSession(): boolean {
    const { sessions, host } = this.options;
    return sessions.list().some((ref) => ref.host === host && sessions.isOpen(ref));
  }
}
