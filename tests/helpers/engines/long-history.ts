// An agent whose history is so long that it continues as new with its next message.
import type { HoldfastClient } from '../../../client/holdfast-client';
import { count } from '../run/long-run';

const AT_ONCE = 70;

/** Signals that change nothing. See start-server.ts for the limit. */
export async function lengthenHistory(client: HoldfastClient, agent: string): Promise<void> {
  const handle = client.temporal.workflow.getHandle(client.agent(agent).workflowId);
  for (let sent = 0; sent < count(420, 2_100); sent += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => handle.signal('interrupt', {})));
}
