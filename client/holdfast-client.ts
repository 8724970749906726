// The one typed client: backends, the command line and our own activities all use it.
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { SessionRef } from '../contracts/ids';
import { LOCAL_HOST } from '../contracts/ids';
import type { SessionInput } from '../contracts/session';
import { AgentHandle } from './agent-handle';
import { ApprovalDesk } from './approval-desk';
import { connectTemporal, resolveServer, type ServerChoice } from './connect';
import { HostDirectory } from './host-directory';
import { HostNamespaces } from './host-namespaces';
import { SessionHandle } from './session-handle';

export interface ConnectChoice extends ServerChoice {
  /** For payloads that are encrypted: `encryptedPayloads` of `holdfast/encryption`. */
  dataConverter?: DataConverter | undefined;
}

export class HoldfastClient {
  /** Where the sessions of each host have their workflows. */
  readonly namespaces: HostNamespaces;

  constructor(
    /** For what this client does not cover. */
    readonly temporal: Client,
    readonly address: string,
  ) {
    this.namespaces = new HostNamespaces(temporal, address);
  }

  /**
   * Connects to the server that `choice`, the environment (TEMPORAL_ADDRESS) or a Temporal profile names.
   * Throws `no_server` or `config_invalid`.
   */
  static async connect(
    { dataConverter, ...choice }: ConnectChoice = {},
    env: NodeJS.ProcessEnv = process.env,
  ): Promise<HoldfastClient> {
    const server = resolveServer(choice, env);
    return new HoldfastClient(await connectTemporal(server, dataConverter), server.address);
  }

  /** An agent by id; nothing is started yet. Throws `invalid_input` for an id that is not allowed. */
  agent(id: string): AgentHandle {
    return new AgentHandle(this.temporal, id, this.address);
  }

  /** A session by agent, host and number; `settings` count when a command opens it. */
  session(
    ref: Omit<SessionRef, 'host'> & { host?: string },
    settings: Pick<SessionInput, 'cwd' | 'idleMs' | 'yield'> = {},
  ): SessionHandle {
    const { host = LOCAL_HOST } = ref;
    const home = (): Promise<Client> => this.namespaces.clientOf(host);
    return new SessionHandle(home, { ...ref, host }, settings, this.address);
  }

  /** Machines that serve shells, beside the local one. */
  get hosts(): HostDirectory {
    return new HostDirectory(this.temporal, this.namespaces, this.address);
  }

  /** What waits for somebody's yes or no. */
  get approvals(): ApprovalDesk {
    return new ApprovalDesk(this.namespaces, this.address);
  }

  async close(): Promise<void> {
    await this.temporal.connection.close();
  }
}
