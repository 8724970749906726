// The namespaces of each host's session workflows: a host in another trust domain has its own.
import { Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { hostWorkflowId, LOCAL_HOST, parseSessionWorkflowId } from '../../contracts/ids';
import { HOST_NAMESPACE_MEMO, WORKFLOWS } from '../../contracts/messages';
import { deliver } from '../delivery/deliver';
import type { ServerFacts } from '../server-facts';
import { listWorkflows } from '../delivery/list-workflows';

/** A host may be enrolled during this client's life; an enrolled host stays enrolled. */
const ASK_AGAIN_MS = 10_000;

interface Found<T> {
  client: Client;
  one: T;
}

/** A host's namespace that is gone or denied. */
export interface Unread {
  namespace: string;
  reason: unknown;
}

export class HostNamespaces {
  private readonly clients = new Map<string, Client>();
  private readonly asked = new Map<string, { at: number; client: Promise<Client> }>();

  constructor(
    /** The agents' own. */
    readonly main: Client,
    private readonly server: ServerFacts,
  ) {}

  /** The client for this host's workflows: its sessions, its presence. */
  clientOf(host: string): Promise<Client> {
    if (host === LOCAL_HOST) return Promise.resolve(this.main);
    const known = this.asked.get(host);
    if (known && Date.now() - known.at < ASK_AGAIN_MS) return known.client;
    const client = this.find(host);
    this.asked.set(host, { at: Date.now(), client });
    // A failure is not cached: the next call asks again.
    client.catch(() => this.asked.delete(host));
    return client;
  }

  /** The agents' namespace first, then those of enrolled hosts, each once. */
  async all(): Promise<Client[]> {
    const found = new Set([this.main]);
    for await (const info of this.hosts()) found.add(this.clientIn(info));
    return [...found];
  }

  /**
   * What `list` finds in each of them, and the hosts' namespaces in which it fails: one of them that is denied or gone must
   * not hide the others. Throws where it fails in the agents' own.
   */
  async found<T>(list: (client: Client) => Promise<T[]>): Promise<{ found: Found<T>[]; unread: Unread[] }> {
    const found: Found<T>[] = [];
    const unread: Unread[] = [];
    for (const client of await this.all()) {
      try {
        for (const one of await list(client)) found.push({ client, one });
      } catch (err) {
        if (client === this.main) throw err;
        unread.push({ namespace: client.options.namespace, reason: err });
      }
    }
    return { found, unread };
  }

  /**
   * Whether the workflow with this id belongs there. In an enrolled host's namespace only its sessions are trusted:
   * anyone with access to that machine can start workflows there with any id.
   */
  async isHome(client: Client, workflowId: string): Promise<boolean> {
    if (client === this.main) return true;
    const ref = parseSessionWorkflowId(workflowId);
    return ref !== undefined && (await this.clientOf(ref.host)) === client;
  }

  /** The workflows of all hosts that have connected and are not forgotten. */
  hosts(): AsyncIterable<WorkflowExecutionInfo> {
    const query = `WorkflowType = "${WORKFLOWS.host}" AND ExecutionStatus = "Running"`;
    return listWorkflows(this.main, { query });
  }

  /** The client for the namespace in the memo of the workflow `host`; otherwise the agents'. */
  clientIn({ memo }: Pick<WorkflowExecutionInfo, 'memo'>): Client {
    const namespace = memo?.[HOST_NAMESPACE_MEMO];
    if (typeof namespace !== 'string' || namespace === this.main.options.namespace) return this.main;
    const known = this.clients.get(namespace);
    const client = known ?? new Client({ ...this.main.options, connection: this.main.connection, namespace });
    this.clients.set(namespace, client);
    return client;
  }

  private async find(host: string): Promise<Client> {
    const workflowId = hostWorkflowId(host);
    const { main: client, server } = this;
    const to = { client, server, workflowId, needsWorker: false, what: 'The host' };
    try {
      const info = await deliver(to, () => client.workflow.getHandle(workflowId).describe());
      return info.status.name === 'RUNNING' ? this.clientIn(info) : client;
    } catch (err) {
      if (err instanceof HoldfastError && err.code === 'not_found') return client;
      throw err;
    }
  }
}
