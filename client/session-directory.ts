// Lists open sessions: from the server's visibility store, so what was opened a second ago may be missing, with what each
// says of itself.
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { SessionEntry } from '../contracts/gateway/api';
import { parseSessionWorkflowId } from '../contracts/ids';
import { SEARCH_ATTRIBUTES, WORKFLOWS } from '../contracts/messages';
import { SESSION_MESSAGES } from '../contracts/messages/to-sessions';
import { ask, waitOf } from './agents/agent-overview';
import { openWorkflows, toldToWait } from './agents/list-open';
import type { ServerFacts } from './delivery/deliver';
import type { HostNamespaces } from './hosts/host-namespaces';

export interface ListSessionsRequest {
  /** Only those of this agent. */
  agent?: string | undefined;
}

interface Listed {
  client: Client;
  one: WorkflowExecutionInfo;
}

const TYPES = [WORKFLOWS.execSession];

export class SessionDirectory {
  constructor(
    private readonly namespaces: HostNamespaces,
    private readonly server: ServerFacts,
  ) {}

  /** Every open session, by workflow id. One that does not answer within three seconds has no state. */
  async list({ agent }: ListSessionsRequest = {}): Promise<SessionEntry[]> {
    const own = agent === undefined ? '' : ` AND ${SEARCH_ATTRIBUTES.agent} = "${agent}"`;
    const listed: Listed[] = [];
    for (const client of await this.namespaces.all())
      for (const one of await openWorkflows(client, TYPES, own)) listed.push({ client, one });
    return this.entries(listed);
  }

  /**
   * Those that have told the server that they wait for input, without those of less than a second ago. `unread` are the
   * namespaces of hosts that could not be read.
   */
  async listTold(): Promise<{ sessions: SessionEntry[]; unread: string[] }> {
    const { found, unread } = await this.namespaces.found((client) => toldToWait(client, TYPES, 'input'));
    return { sessions: await this.entries(found), unread };
  }

  private async entries(listed: readonly Listed[]): Promise<SessionEntry[]> {
    const { namespaces, server } = this;
    const entries: Promise<SessionEntry>[] = [];
    for (const { client, one } of listed) {
      const { workflowId, startTime } = one;
      const ref = parseSessionWorkflowId(workflowId);
      if (!ref || !(await namespaces.isHome(client, workflowId))) continue;
      const asking = { client, namespaces, server, workflowId, what: 'The session' };
      const entry = async (): Promise<SessionEntry> => {
        const state = await ask({ ...asking, query: SESSION_MESSAGES.state });
        const waits = state && waitOf(state, workflowId);
        return { ...ref, workflowId, since: startTime.toISOString(), state, waits };
      };
      entries.push(entry());
    }
    const found = await Promise.all(entries);
    return found.sort((a, b) => a.workflowId.localeCompare(b.workflowId, 'en', { numeric: true }));
  }
}
