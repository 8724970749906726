// Lists open sessions: from the server's visibility store, so what was opened a second ago may be missing, with what each
// says of itself.
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
  /** Only those that have told the server that they wait for input: without those of less than a second ago. */
  isWaiting?: boolean | undefined;
}

export class SessionDirectory {
  constructor(
    private readonly namespaces: HostNamespaces,
    private readonly server: ServerFacts,
  ) {}

  /** Every open session, by workflow id. One that does not answer within three seconds has no state. */
  async list({ agent, isWaiting = false }: ListSessionsRequest = {}): Promise<SessionEntry[]> {
    const { namespaces, server } = this;
    const own = agent === undefined ? '' : ` AND ${SEARCH_ATTRIBUTES.agent} = "${agent}"`;
    const types = [WORKFLOWS.execSession];
    const entries: Promise<SessionEntry>[] = [];
    for (const client of await namespaces.all()) {
      const open = isWaiting ? toldToWait(client, types, 'input') : openWorkflows(client, types, own);
      for (const { workflowId, startTime } of await open) {
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
    }
    const found = await Promise.all(entries);
    return found.sort((a, b) => a.workflowId.localeCompare(b.workflowId, 'en', { numeric: true }));
  }
}
