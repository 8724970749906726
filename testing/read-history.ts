// Histories in files: as the SDKs and `temporal workflow show --output json` write them, or as we do, with the
// workflow's id beside it.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HoldfastClient } from '../client/holdfast-client';
import { historyFromJSON, historyToJSON, type History } from '@temporalio/common/lib/proto-utils';

export interface RecordedHistory {
  /** File, or workflow id on a server. */
  source: string;
  workflowId: string;
  workflowType: string;
  history: History;
}

/** Writes a workflow's history into a file, to be replayed by later releases. */
export async function recordHistory(client: HoldfastClient, workflowId: string, file: string): Promise<void> {
  const history = await client.temporal.workflow.getHandle(workflowId).fetchHistory();
  const content = { workflowId, history: JSON.parse(historyToJSON(history)) as unknown };
  writeFileSync(file, `${JSON.stringify(content, null, 1)}\n`);
}

/** Reads a file, or every `.json` of a folder. */
export function readHistories(path: string): RecordedHistory[] {
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => name.endsWith('.json'))
        .sort()
        .map((name) => join(path, name))
    : [path];
  return files.map((file) => {
    const content = JSON.parse(readFileSync(file, 'utf8')) as { workflowId?: string; history?: unknown };
    return described(file, historyFromJSON(content.history ?? content), content.workflowId);
  });
}

/** Reads the histories of workflows on a server; of each id the latest run. */
export function fetchHistories(
  client: HoldfastClient,
  workflowIds: readonly string[],
): Promise<RecordedHistory[]> {
  return Promise.all(
    workflowIds.map(async (workflowId) => {
      const history = await client.temporal.workflow.getHandle(workflowId).fetchHistory();
      return described(workflowId, history, workflowId);
    }),
  );
}

/** A history begins with its workflow's id; older servers omit it, and some workflows read theirs. */
function described(source: string, history: History, workflowId?: string): RecordedHistory {
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  return {
    source,
    workflowId: workflowId ?? (started?.workflowId || 'unknown'),
    workflowType: started?.workflowType?.name ?? 'unknown',
    history,
  };
}
