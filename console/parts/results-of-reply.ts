// Finds the result of each call of a reply. Ids of calls are the model's own and begin anew with each reply, so a result
// belongs to the nearest reply before it. Pure.
import type { Message, ToolCall, ToolResult } from '../../contracts/agents/agent';

/** In the order of the calls; undefined for one that still runs. `at`: index of the reply. */
export function resultsOfReply(messages: readonly Message[], at: number): (ToolResult | undefined)[] {
  const reply = messages[at];
  if (reply?.role !== 'assistant' || reply.parsed.kind !== 'calls') return [];
  const results: ToolResult[] = [];
  for (let next = messages[at + 1], place = at + 1; next?.role === 'tool'; next = messages[++place])
    results.push(next);
  const own = new Set<ToolResult>();
  return reply.parsed.calls.map(({ callId }: ToolCall) => {
    // Even within a reply an id may be there twice; results are recorded in the order of the calls.
    const found = results.find((result) => result.callId === callId && !own.has(result));
    if (found) own.add(found);
    return found;
  });
}
