// The agents that stopped without what was asked for, and why. Why a turn has failed never changes: it is asked once.
import { inTime } from '../../client/agents/agent-overview';
import {
  listFailedAgents,
  whyFailed,
  type FailedAgent,
  type WhyFailed,
} from '../../client/agents/failed-agents';
import type { HoldfastClient } from '../../client/holdfast-client';
import type { InboxItem } from '../../contracts/gateway/api';
import { eachOf } from '../each-of';
import { RememberedRuns } from '../remembered-runs';
import type { DismissedRuns } from './dismissed-runs';

const AT_ONCE = 8;
/** The most that are listed, of all agents; a token sees fewer. */
const MAX_LISTED = 1_000;
/** What has ended longer ago is for the list of agents. */
const ENDED_MS = 24 * 3_600_000;
/** What is not known by then is asked at the next look. */
const ASK_MS = 3_000;

/** Shared by all requests. */
const reasons = new RememberedRuns<WhyFailed>();

export async function failedAgents(
  client: HoldfastClient,
  dismissed: Pick<DismissedRuns, 'all'>,
): Promise<InboxItem[]> {
  const listed = await listFailedAgents(client, new Date(Date.now() - ENDED_MS), MAX_LISTED);
  const put = dismissed.all();
  const failed = listed.filter(({ runId }) => !put.has(runId));
  const until = Date.now() + ASK_MS;
  const items = await eachOf(failed, AT_ONCE, async (one): Promise<InboxItem | null> => {
    const key = `${one.runId} ${one.turn}`;
    const known = reasons.get(key);
    if (known) return itemOf(one, known);
    if (Date.now() >= until) return itemOf(one, null);
    const asked = await inTime(client.temporal, async () => ({ why: await whyFailed(client, one) }));
    // It has gone on since it was listed.
    if (asked?.why === null) return null;
    if (asked) reasons.set(key, asked.why);
    return itemOf(one, asked?.why ?? null);
  });
  return items.filter((item) => item !== null);
}

function itemOf(failed: FailedAgent, why: WhyFailed | null): InboxItem {
  const { agent, runId, isOpen, parent, turn, since } = failed;
  const code = why?.code ?? failed.why;
  const how = isOpen ? 'stopped without an answer' : 'has failed';
  return {
    ...{ kind: 'failed', agent, since },
    text: code === null ? `${how}; why is not known now` : `${how}: ${code.replaceAll('_', ' ')}`,
    run: { runId, isOpen, parent, turn },
    ...(why && { failure: why }),
  };
}
