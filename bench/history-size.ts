// The sizes of workflows' histories on the server.
import type { Bench } from './setting';

export interface HistorySize {
  events: number;
  bytes: number;
}

export async function historySize({ client }: Bench, workflowId: string): Promise<HistorySize> {
  const { historyLength, historySize: bytes = NaN } = await client.temporal.workflow
    .getHandle(workflowId)
    .describe();
  return { events: historyLength, bytes };
}

export const grown = (after: HistorySize, before: HistorySize): HistorySize => ({
  events: after.events - before.events,
  bytes: after.bytes - before.bytes,
});
