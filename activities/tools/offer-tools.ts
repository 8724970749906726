// Publishes to hosts without agents which tools their scripts may call beside the agents: descriptions, and nothing else of the
// configuration.
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { OfferActivities } from '../../contracts/activities';
import type { OfferedTool, ToolsOffer } from '../../contracts/tools/offered-tools';
import { jsonBytes, MAX_OFFER_BYTES } from '../../contracts/payload-size';
import type { ToolRegistry } from '../../tools/registry';

const NAMED = 20;
/** Much less than the activity may take, and than a script waits for it: one server must not hold up the other tools. */
const SETTLING_MS = 4_000;

export const createOfferActivities = ({ tools }: { tools: ToolRegistry }): OfferActivities => ({
  async offerTools({ known }) {
    // Otherwise a worker that has just started would offer nothing of its MCP servers, and hosts ask rarely.
    await Promise.race([tools.settled(), delay(SETTLING_MS, undefined, { ref: false })]);
    return offerOf(tools.offered(), known);
  },
});

/** As many tools as fit into one payload: one that is too large does not keep out the others. */
export function offerOf(tools: readonly OfferedTool[], known: string | null): ToolsOffer {
  const fitting: OfferedTool[] = [];
  const others: string[] = [];
  let bytes = 0;
  for (const tool of [...tools].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const size = jsonBytes(tool);
    if (bytes + size > MAX_OFFER_BYTES) others.push(tool.name);
    else {
      bytes += size;
      fitting.push(tool);
    }
  }
  const digest = createHash('sha256')
    .update(JSON.stringify([fitting, others]))
    .digest('hex');
  const leftOut = { count: others.length, names: others.slice(0, NAMED) };
  return { digest, tools: digest === known ? null : fitting, leftOut };
}
