// Which histories of a server today's code does not replay: after any fault, that is a workflow which cannot go on.
import { beginningOf } from '../../../contracts/text/well-formed';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { WORKFLOWS } from '../../../contracts/messages';
import { replayHistories } from '../../../testing';

const SHOWN_CHARACTERS = 400;

export interface Replayed {
  workflows: number;
  /** A text for each that does not replay: why, and its events, because its history goes with the test. */
  failed: string[];
}

/** Replays Holdfast's workflows in the namespace of `client`: of each id the latest run. */
export async function replayAll(client: HoldfastClient): Promise<Replayed> {
  const query = `WorkflowType IN (${Object.values(WORKFLOWS)
    .map((name) => `"${name}"`)
    .join(', ')})`;
  const workflowIds: string[] = [];
  for await (const { workflowId } of client.temporal.workflow.list({ query })) workflowIds.push(workflowId);
  const verdicts = await replayHistories({ client, workflowIds: [...new Set(workflowIds)] });
  const failed = await Promise.all(
    verdicts
      .filter(({ replays }) => !replays)
      .map(async ({ workflowId, error }) =>
        [String(error), ...(await eventsOf(client, workflowId))].join('\n'),
      ),
  );
  return { workflows: verdicts.length, failed };
}

async function eventsOf({ temporal }: HoldfastClient, workflowId: string): Promise<string[]> {
  const { events } = await temporal.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).map(({ eventId, ...event }) => {
    const [kind = '', attributes] = Object.entries(event).find(([key]) => key.endsWith('Attributes')) ?? [];
    return `${String(eventId)} ${kind} ${beginningOf(JSON.stringify(attributes), SHOWN_CHARACTERS)}`;
  });
}
