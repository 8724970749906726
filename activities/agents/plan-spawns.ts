// Which sub-agents a reply starts, in full: a turn cannot read the files of roles. With that, it asks its agent for them
// itself. Calls without a plan run as an activity, like those of other tools.
import type { ParsedReply, ToolCall } from '../../contracts/agents/agent';
import { withoutEscapes } from '../../contracts/agents/references';
import type { SpawnPlan } from '../../contracts/schemas/agent';
import { AGENT_MESSAGES } from '../../contracts/messages/to-agents';
import { jsonBytes } from '../../contracts/payload-size';
import { parseRequest } from '../../contracts/schemas/parse-request';
import type { ToolRegistry } from '../../tools/registry';

/** For all plans of a reply: they are recorded, and sent to the agent in one message. */
const MAX_PLANS_BYTES = 200_000;

interface Planning {
  tools: ToolRegistry;
  /** Names of the tools that the agent may call; absent: all. */
  allowed: readonly string[] | undefined;
  /** The agent's own. */
  model: string;
  /** The calls' keys begin with it. */
  key: string | undefined;
}

/** By call id; undefined if there are none. */
export async function planSpawns(
  reply: ParsedReply,
  { tools, allowed, model, key }: Planning,
): Promise<Record<string, SpawnPlan> | undefined> {
  if (reply.kind !== 'calls' || key === undefined) return undefined;
  const plans: [string, SpawnPlan][] = [];
  let bytes = 0;
  for (const call of reply.calls) {
    if (allowed?.includes(call.tool) === false) continue;
    const plan = await planOf(call, { tools, model }, `${key}/${call.callId}`);
    bytes += jsonBytes(plan);
    if (plan && bytes <= MAX_PLANS_BYTES) plans.push([call.callId, plan]);
  }
  return plans.length > 0 ? Object.fromEntries(plans) : undefined;
}

/** Undefined for what only the activity can do: report a fault, or check again what a person has approved. */
async function planOf(
  call: ToolCall,
  { tools, model }: Pick<Planning, 'tools' | 'model'>,
  key: string,
): Promise<SpawnPlan | undefined> {
  const { hold, denied, needs = [] } = call;
  if (hold || denied !== undefined || needs.length > 0) return undefined;
  try {
    const tool = tools.find(call.tool);
    const plan = await tool.plan?.(await tools.check(tool, withoutEscapes(call).args), model);
    // The agent would refuse it.
    if (plan) parseRequest(AGENT_MESSAGES.spawn, { key, ...plan });
    return plan;
  } catch {
    // Whatever it is: the model's answer has been paid, and must not be asked for again.
    return undefined;
  }
}
