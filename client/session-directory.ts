// Lists open sessions: from the server's visibility store, so what was opened a second ago may be missing, with what each
// says of itself.
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { SessionEntry } from '../contracts/gateway/api';
import { parseSessionWorkflowId } from '../contracts/ids';
import { WORKFLOWS } from '../contracts/messages';
import { sessionState, waitOf } from './agents/agent-overview';
import { ofAgent, openWorkflows, publishedToWait } from './agents/list-open';
import type { ServerFacts } from './server-facts';
import type { HostNamespaces } from './hosts/host-namespaces';

export interface ListSessionsRequest {
  /** Only those of this agent. */
  agent?: string | undefined;
}

interface Listed {
  client: Client;
  one: WorkflowExecutionInfo;
}

export interface ReadableSessions {
  sessions: SessionEntry[];
  /** Namespaces of hosts that could not be read: their sessions are missing. */
  unread: string[];
}

const TYPES = [WORKFLOWS.execSession];

export class SessionDirectory {
  constructor(
    private readonly namespaces: HostNamespaces,
    private readonly server: ServerFacts,
  ) {}

  /** The sessions of `listReadable`. */
  async list(request: ListSessionsRequest = {}): Promise<SessionEntry[]> {
    return (await this.listReadable(request)).sessions;
  }

  /** Every open session, by workflow id. One that does not answer within three seconds has no state. */
  async listReadable({ agent }: ListSessionsRequest = {}): Promise<ReadableSessions> {
    const own = ofAgent(agent);
    return this.readable((client) => openWorkflows(client, TYPES, own));
  }

  /** Those that have published that they wait for input, without those of less than a second ago. */
  async listPublished(): Promise<ReadableSessions> {
    return this.readable((client) => publishedToWait(client, TYPES, 'input'));
  }

  private async readable(
    list: (client: Client) => Promise<WorkflowExecutionInfo[]>,
  ): Promise<ReadableSessions> {
    const { found, unread } = await this.namespaces.found(list);
    return { sessions: await this.entries(found), unread: unread.map(({ namespace }) => namespace) };
  }

  private async entries(listed: readonly Listed[]): Promise<SessionEntry[]> {
    const { namespaces, server } = this;
    const entries: Promise<SessionEntry>[] = [];
    for (const { client, one } of listed) {
      const { workflowId, startTime } = one;
      const ref = parseSessionWorkflowId(workflowId);
      if (!ref || !(await namespaces.isHome(client, workflowId))) continue;
      const entry = async (): Promise<SessionEntry> => {
        const state = await sessionState({ client, namespaces, server }, workflowId);
        const waits = state && waitOf(state, workflowId);
        return { ...ref, workflowId, since: startTime.toISOString(), state, waits };
      };
      entries.push(entry());
    }
    const found = await Promise.all(entries);
    return found.sort((a, b) => a.workflowId.localeCompare(b.workflowId, 'en', { numeric: true }));
  }
}
