// The single typed client: backends, the command line and our own activities all use it.
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import {
  checkedFolder,
  checkedObject,
  checkedQueue,
  LOCAL_HOST,
  MAIN_TASK_QUEUE,
  type SessionRef,
} from '../contracts/ids';
import type { SessionInput } from '../contracts/schemas/session';
import { AgentDirectory } from './agents/agent-directory';
import { turnState } from './agents/agent-overview';
import type { TurnState } from '../contracts/agents/agent';
import { AgentHandle } from './agents/agent-handle';
import { ApprovalDesk } from './agents/approval-desk';
import { connectTemporal, resolveServer, type ServerChoice } from './connect';
import { PATIENCE_MS, type ServerFacts } from './server-facts';
import type { TimeLine } from '../contracts/gateway/time-line';
import { readTimeLine, type TimeLineOptions } from './histories/read-time-line';
import { HostDirectory } from './hosts/host-directory';
import { HostNamespaces } from './hosts/host-namespaces';
import { QueueClaims } from './hosts/queue-claims';
import { QuotaCounter } from './quota-counter';
import { SessionDirectory } from './session-directory';
import { SessionHandle } from './session-handle';
import { WebhookWorkflows } from './webhooks/webhook-workflows';

export interface ConnectChoice extends ServerChoice {
  /** For encrypted payloads: `encryptedPayloads` of `holdfast/encryption`. */
  dataConverter?: DataConverter | undefined;
  /** Task queue for agents that are started. Default: `holdfast`. */
  queue?: string | undefined;
  /**
   * How long, in milliseconds, a message is repeated while the server is away or frozen. Default 60,000. A list fails with
   * `no_server` after 25 seconds at most.
   */
  patienceMs?: number | undefined;
  /** Whether a message of this client begins a trace, where the workers send traces. Default false. */
  startsTraces?: boolean | undefined;
}

export class HoldfastClient {
  /** The namespaces of each host's session workflows. */
  readonly namespaces: HostNamespaces;
  /** What all its handles share. */
  readonly server: ServerFacts;

  constructor(
    /** For what this client does not cover. */
    readonly temporal: Client,
    readonly address: string,
    server: Partial<Omit<ServerFacts, 'address'>> = {},
  ) {
    const { queue = MAIN_TASK_QUEUE, ...facts } = server;
    this.server = { ...facts, address, queue: checkedQueue(queue) };
    this.namespaces = new HostNamespaces(temporal, this.server);
  }

  /**
   * Connects to the server that `choice`, the environment (TEMPORAL_ADDRESS) or a Temporal profile names.
   * Throws `no_server`, `config_invalid` or `invalid_input`.
   */
  static async connect(
    {
      dataConverter,
      queue = MAIN_TASK_QUEUE,
      patienceMs = PATIENCE_MS,
      startsTraces,
      ...choice
    }: ConnectChoice = {},
    env: NodeJS.ProcessEnv = process.env,
  ): Promise<HoldfastClient> {
    checkedQueue(queue);
    const server = resolveServer(choice, env);
    const temporal = await connectTemporal(server, { dataConverter, patienceMs, startsTraces });
    return new HoldfastClient(temporal, server.address, { queue, patienceMs });
  }

  /** An agent by id; nothing is started yet. Throws `invalid_input` for an invalid id. */
  agent(id: string): AgentHandle {
    return new AgentHandle(this.namespaces, id, this.server);
  }

  /** Which agents exist, what each is doing and what it waits for. */
  get agents(): AgentDirectory {
    return new AgentDirectory(this.temporal, this.address);
  }

  /**
   * What happened to an agent and when, from the histories of its workflows; needs no worker. Throws `invalid_input` and
   * `not_found`.
   */
  timeLine(agent: string, options?: TimeLineOptions): Promise<TimeLine> {
    return readTimeLine(this.namespaces, this.server, agent, options);
  }

  /** A session by agent, host and number; `settings` apply when a command opens it. Throws `invalid_input`. */
  session(
    ref: Omit<SessionRef, 'host'> & { host?: string | undefined },
    settings: Pick<SessionInput, 'cwd' | 'idleMs' | 'yield'> = {},
  ): SessionHandle {
    const { host = LOCAL_HOST } = checkedObject('The session', ref, '{ agent, session } and perhaps a host');
    checkedFolder(settings.cwd);
    const home = (): Promise<Client> => this.namespaces.clientOf(host);
    return new SessionHandle(home, { ...ref, host }, settings, this.server);
  }

  /** Which sessions are open, on any host, and what each is doing. */
  get sessions(): SessionDirectory {
    return new SessionDirectory(this.namespaces, this.server);
  }

  /** Machines that serve shells, other than the local one. */
  get hosts(): HostDirectory {
    return new HostDirectory(this.temporal, this.namespaces, this.server);
  }

  /** Which data folder serves which task queue. */
  get claims(): QueueClaims {
    return new QueueClaims(this.temporal, this.server.queue);
  }

  /** Pending approvals. */
  get approvals(): ApprovalDesk {
    return new ApprovalDesk(this.namespaces, this.server);
  }

  /** What sends the events of webhooks; their settings are in the data folder. */
  get webhooks(): WebhookWorkflows {
    return new WebhookWorkflows(this.namespaces, this.server);
  }

  /** What a turn is doing, as it says itself; null without an answer within three seconds. */
  turnState(workflowId: string): Promise<TurnState | null> {
    const { temporal: client, namespaces, server } = this;
    return turnState({ client, namespaces, server }, workflowId);
  }

  /** What the models of all agents have used today. */
  get quota(): QuotaCounter {
    return new QuotaCounter(this.temporal, this.server);
  }

  async close(): Promise<void> {
    await this.temporal.connection.close();
  }
}
