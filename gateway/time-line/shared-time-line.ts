// One reading of an agent's histories for all who ask for it at the same time: it costs the server more than other answers.
import type { TimeLine } from '../../contracts/gateway/time-line';
import type { GatewayContext } from '../gateway-context';

/** A reading is as old as its beginning: one that has begun is joined, and one that has ended is not used again. */
const running = new WeakMap<GatewayContext, Map<string, Promise<TimeLine>>>();

export async function sharedTimeLine(context: GatewayContext, agent: string): Promise<TimeLine> {
  const ofGateway = running.get(context) ?? new Map<string, Promise<TimeLine>>();
  running.set(context, ofGateway);
  const known = ofGateway.get(agent);
  if (known) return known;
  const reading = context.client.timeLine(agent);
  ofGateway.set(agent, reading);
  try {
    return await reading;
  } finally {
    ofGateway.delete(agent);
  }
}
