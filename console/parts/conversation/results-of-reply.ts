// Finds the result of each call of a reply. Ids of calls are the model's own and begin anew with each reply, so a result
// belongs to the nearest reply before it. Pure.
import type { Message, ToolCall, ToolResult } from '../../../contracts/agents/agent';

/** In the order of the calls; undefined for one that still runs. `at`: index of the reply. */
export function resultsOfReply(messages: readonly Message[], at: number): (ToolResult | undefined)[] {
  const reply = messages[at];
  if (reply?.role !== 'assistant' || reply.parsed.kind !== 'calls') return [];
  const results: ToolResult[] = [];
  for (let place = at + 1; ; place++) {
    const next = messages[place];
    // Between a reply and its results, what the files were as it began.
    if (next?.role !== 'tool' && next?.role !== 'checkpoint') break;
    if (next.role === 'tool') results.push(next);
  }
  const own = new Set<ToolResult>();
  return reply.parsed.calls.map(({ callId }: ToolCall) => {
    // Even within a reply an id may be there twice; results are recorded in the order of the calls.
    const found = results.find((result) => result.callId === callId && !own.has(result));
    if (found) own.add(found);
    return found;
  });
}
